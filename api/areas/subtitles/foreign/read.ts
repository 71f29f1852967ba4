import { ApiError } from '#kernel/errors.ts';
import { AsideFailed, aside } from '#platform/aside.ts';
import type { KeptText } from '../kept/kept.store.ts';
import type { Hints, Opened } from './open.ts';

const LIMIT_MS = 20_000;

/** The error for bytes that are no subtitle. */
export const badFile = (why: string): ApiError =>
  new ApiError('PROVIDER_UNAVAILABLE', 'The provider sent no usable subtitle', { reason: 'bad-file', why });

/** The text of a foreign file, opened in a thread of its own. Throws 502 `bad-file`. */
export async function readForeignFile(bytes: Uint8Array, hints: Hints): Promise<KeptText> {
  const work = { module: new URL('./open.ts', import.meta.url), name: 'openForeign', limitMs: LIMIT_MS };
  const opened = await aside<Opened>(work, bytes, hints).catch((error: unknown) => {
    throw error instanceof AsideFailed ? badFile('time') : error;
  });
  if (!opened.ok) throw badFile(opened.why);
  return { bytes: Buffer.from(opened.text), format: opened.format, cueCount: opened.cueCount };
}
