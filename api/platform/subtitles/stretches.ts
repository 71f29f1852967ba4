import { z } from 'zod';

const Ms = z.int();

/** A stretch of a picture track that a worker reads, at the times of a correction. */
export const PictureStretch = z.object({
  /** As ffmpeg counts streams. */
  streamIndex: z.int(),
  /** When its packets are shown. */
  fromMs: Ms,
  toMs: Ms,
  /** Of the bytes of the film. */
  filmVersion: z.string(),
  /** Of the correction. */
  syncVersion: z.string(),
  timing: z.object({
    ...{ offsetMs: Ms, rate: z.number() },
    pieces: z.array(z.object({ fromMs: Ms, offsetMs: Ms })),
  }),
});
export type PictureStretch = z.output<typeof PictureStretch>;

/** Beginning of the keys of all stretches in the bucket `foyer-subtitles`. */
export const STRETCHES = 'pictures/';

/** So long a stretch that was read is kept. */
export const STRETCH_KEPT_MS = 3_600_000;

/** Key of a stretch that was read. */
export function stretchKey(fileId: string, { streamIndex, fromMs, toMs, ...of }: PictureStretch): string {
  return `${STRETCHES}${fileId}/${of.filmVersion}/${streamIndex}/${of.syncVersion}/${fromMs}-${toMs}`;
}
