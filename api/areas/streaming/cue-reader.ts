import { ApiError } from '#kernel/errors.ts';
import { AsideFailed, aside } from '#platform/aside.ts';
import { type Cue, cuesOfBytes } from './cues.ts';

/** Larger files are read in a thread of their own: nobody else waits for them. */
const SMALL = 256 << 10;
const LIMIT_MS = 10_000;

const thread = { module: new URL('./cues.ts', import.meta.url), name: 'cuesOfBytes', limitMs: LIMIT_MS };

interface Told {
  format: string;
  language?: string | undefined;
}

/** Cues of a text that somebody else wrote. Throws 503 when too many are read at once, or one takes too long. */
export async function readCues(bytes: Uint8Array, told: Told): Promise<Cue[]> {
  if (bytes.length <= SMALL) return cuesOfBytes(bytes, told);
  try {
    return await aside<Cue[]>(thread, bytes, told);
  } catch (error) {
    if (!(error instanceof AsideFailed)) throw error;
    throw new ApiError('SERVICE_STARTING', 'The subtitle takes too long to read', { waitingFor: 'capacity' });
  }
}
