// How what spec.declared says stands, for a condition. Pure.
import type { Verdict } from '../schemas/conditions.ts';
import type { ObservedDeclared } from './bodies.ts';

export const DECLARED = 'DeclaredReady';

const MESSAGE_MAX = 30_000;

/** None where nothing is declared and nothing of it is left. */
export function declaredVerdicts(declared: readonly unknown[], seen: ObservedDeclared | undefined): Verdict[] {
  const say = (status: Verdict['status'], reason: Verdict['reason'], message: string): Verdict[] => [
    { type: DECLARED, status, reason, message: message.slice(0, MESSAGE_MAX) },
  ];
  if (!seen) return declared.length > 0 ? say('Unknown', 'ServerNotReady', 'Applied once the server answers') : [];
  const waits = seen.unserved.map((file) => `${file} is kept, and this version does nothing with it yet`);
  if (seen.troubles.length > 0) return say('False', 'ApiRefused', [...seen.troubles, ...waits].join('; '));
  if (waits.length > 0) return say('False', 'NotServed', waits.join('; '));
  if (declared.length === 0) return [];
  return say('True', 'InSync', `The server holds what they say: ${seen.applied} in all`);
}
