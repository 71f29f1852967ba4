import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { encodeKeyframes } from '#platform/media.ts';
import { probeFile } from '#workers/probe/probe.ts';
import type { Api } from './api.ts';
import { type GivenLibrary, givenFile, givenItem } from './given-items.ts';

export interface ProbedFilm {
  itemId: string;
  fileId: string;
}

/** Rows of a film in the media folder of the API, with what a probe finds in it. */
export async function probedFilm({ deps: { db } }: Api, library: GivenLibrary, path: string): Promise<ProbedFilm> {
  const { file, keyframes } = await probeFile(path, {});
  const itemId = await givenItem(db, library, { runtime_ms: file.durationMs });
  const fileId = await givenFile(db, library, itemId, {
    ...{ container: file.container, duration_ms: file.durationMs, probe: { ...file } },
    streams: file.streams.map(({ kind, codec, ...probe }) => ({ kind, codec, probe })),
  });
  const { size, mtimeMs } = statSync(path);
  await db('media_files')
    .where({ id: fileId })
    .update({
      ...{ path: basename(path), size_bytes: size, modified_ms: mtimeMs },
      ...(keyframes && { keyframes: encodeKeyframes(keyframes) }),
    });
  return { itemId, fileId };
}
