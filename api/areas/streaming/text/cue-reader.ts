import { readForeign } from '#kernel/reading.ts';
import { type Cue, cuesOfBytes } from '#platform/subtitles/cues.ts';

const reader = {
  module: new URL('../../../platform/subtitles/cues.ts', import.meta.url),
  name: 'cuesOfBytes',
  read: cuesOfBytes,
};

/** Cues of an untrusted text. Throws 503 as `readForeign`. */
export function readCues(
  bytes: Uint8Array,
  options: { format: string; language?: string | undefined },
): Promise<Cue[]> {
  return readForeign(reader, bytes, options);
}
