import type { IncomingHttpHeaders } from 'node:http';

export const faultReasons = [
  'tuners-busy',
  'no-signal',
  'drm',
  'refused',
  'no-answer',
  'address-not-allowed',
  'no-media',
] as const;
export type FaultReason = (typeof faultReasons)[number];

/** Why a tuner gives no stream; undefined for a stream. HDHomeRuns, and programs in their name, say it in a header. */
export function tunerFault(status: number, headers: IncomingHttpHeaders): FaultReason | undefined {
  if (status >= 200 && status < 300) return undefined;
  const header = headers['x-hdhomerun-error'];
  const code = Number.parseInt(String(header ?? ''), 10);
  if (code === 804 || code === 805) return 'tuners-busy';
  if (code === 806 || code === 807) return 'no-signal';
  if (code === 811) return 'drm';
  return status === 503 ? 'tuners-busy' : 'refused';
}
