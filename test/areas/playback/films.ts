import type { Db } from '#platform/db.ts';
import { type GivenLibrary, givenFile, givenItem } from '#support/given-items.ts';

export const HOUR = 3_600_000;

export const errorOf = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> } }).error;

export const video = {
  stream_index: 0,
  kind: 'video',
  codec: 'h264',
  is_default: true,
  probe: { profile: 'High', width: 1280, height: 720, frameRate: 24 },
};
export const audio = {
  stream_index: 1,
  kind: 'audio',
  codec: 'aac',
  language: 'en',
  is_default: true,
  probe: { channels: 2, sampleRate: 48_000 },
};

/** A film of an hour that a browser plays directly, unless said otherwise. Answers its id. */
export async function givenFilm(
  db: Db,
  library: GivenLibrary,
  { file = {}, item = {} }: { file?: object; item?: object } = {},
): Promise<string> {
  const id = await givenItem(db, library, { runtime_ms: HOUR, ...item });
  await givenFile(db, library, id, { container: 'mp4', duration_ms: HOUR, streams: [video, audio], ...file });
  return id;
}
