import type { IncomingHttpHeaders } from 'node:http';
import type { StreamFault } from '#platform/live/streams.store.ts';

/** A source gives no stream. */
export class SourceFault extends Error {
  readonly reason: StreamFault;
  constructor(reason: StreamFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

const HDHOMERUN: Readonly<Record<string, StreamFault>> = {
  804: 'busy',
  805: 'busy',
  806: 'no-signal',
  807: 'no-signal',
  811: 'drm',
};

/** What a refusal of a device or provider means; an unexplained 503 means that all of its slots are taken. */
export function faultOfAnswer(status: number, headers: IncomingHttpHeaders): SourceFault {
  const [code = ''] = String(headers['x-hdhomerun-error'] ?? '').split(' ');
  const reason = HDHOMERUN[code] ?? (status === 503 ? 'busy' : 'refused');
  return new SourceFault(reason, `the source answered ${status}${code && ` with ${code}`}`);
}
