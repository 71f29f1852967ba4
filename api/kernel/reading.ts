import { AsideFailed, aside } from '#platform/aside.ts';
import { ApiError } from './errors.ts';

/** Larger texts are parsed in a thread of their own, so that no other request waits. */
const SMALL = 256 << 10;
const LIMIT_MS = 10_000;

/** A parser of untrusted text, with the module that exports it; that module should import little. */
export interface Reader<T extends Uint8Array | string, M extends unknown[], R> {
  module: URL;
  /** Exported name; a bundle may rename the function itself. */
  name: string;
  read: (text: T, ...more: M) => R;
}

/** Result of the parser. Throws 503 when too many texts are parsed at once, or one takes too long. */
export async function readForeign<T extends Uint8Array | string, M extends unknown[], R>(
  { module, name, read }: Reader<T, M, R>,
  text: T,
  ...more: M
): Promise<R> {
  if (text.length <= SMALL) return read(text, ...more);
  try {
    return await aside<R>({ module, name, limitMs: LIMIT_MS }, text, ...more);
  } catch (error) {
    if (!(error instanceof AsideFailed)) throw error;
    throw new ApiError('SERVICE_STARTING', 'The text takes too long to read', { waitingFor: 'capacity' });
  }
}
