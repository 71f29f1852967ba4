// The result of spec.declared as a condition. Pure.
import type { Verdict } from '../schemas/conditions.ts';
import type { ObservedDeclared } from './bodies.ts';

export const DECLARED = 'DeclaredReady';

const MESSAGE_MAX = 30_000;

/** No verdict when nothing is declared and no record remains. */
export function declaredVerdicts(declared: readonly unknown[], observed: ObservedDeclared | undefined): Verdict[] {
  const say = (status: Verdict['status'], reason: Verdict['reason'], message: string): Verdict[] => [
    { type: DECLARED, status, reason, message: message.slice(0, MESSAGE_MAX) },
  ];
  if (!observed) return declared.length > 0 ? say('Unknown', 'ServerNotReady', 'Applied once the server answers') : [];
  if (observed.troubles.length > 0) return say('False', 'ApiRefused', observed.troubles.join('; '));
  if (declared.length === 0) return [];
  return say('True', 'InSync', `The server holds all declared entries: ${observed.applied} in all`);
}
