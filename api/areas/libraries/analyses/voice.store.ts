import type { Db } from '#platform/db.ts';
import { decodeKeyframes, encodeKeyframes } from '#platform/media.ts';

/** Rises when another detector finds other speech. */
const VOICE_VERSION = 1;

/** A stretch of speech, ms from the beginning of the film. */
interface Speech {
  startMs: number;
  endMs: number;
}

/** A soundtrack of the file as it is now. */
interface Soundtrack {
  id: string;
  streamIndex: number;
  sizeBytes: number;
  modifiedMs: number;
}

/** Stores the speech of a soundtrack. It replaces earlier speech of the file. */
export async function saveVoice(db: Db, of: Soundtrack, speech: readonly Speech[]): Promise<void> {
  const spans = encodeKeyframes(speech.flatMap(({ startMs, endMs }) => [startMs, endMs]));
  await db('voice_activity')
    .insert({
      ...{ file_id: of.id, stream_index: of.streamIndex, version: VOICE_VERSION },
      ...{ size_bytes: of.sizeBytes, modified_ms: of.modifiedMs, spans },
    })
    .onConflict('file_id')
    .merge();
}

/** The stored speech of a soundtrack, in order. Undefined when it was not analysed, or the file changed since. */
export async function findVoice(db: Db, of: Soundtrack): Promise<Speech[] | undefined> {
  const row = await db('voice_activity')
    .where({ file_id: of.id, stream_index: of.streamIndex, version: VOICE_VERSION })
    .where({ size_bytes: of.sizeBytes, modified_ms: of.modifiedMs })
    .first('spans');
  if (!row) return undefined;
  const times = decodeKeyframes(row.spans);
  return Array.from({ length: times.length >> 1 }, (_, i) => ({
    ...{ startMs: times[i * 2] ?? 0, endMs: times[i * 2 + 1] ?? 0 },
  }));
}
