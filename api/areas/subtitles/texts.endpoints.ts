import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { openToReceivers, sendRanged } from '#areas/streaming/public.ts';
import { bytes, defineEndpoint } from '#kernel/endpoint.ts';
import { Id, queryInt } from '#kernel/schemas.ts';
import { findSync } from '#platform/subtitles/syncs.ts';
import { AS_MADE, later } from '#platform/subtitles/timing.ts';
import { getFilm } from './film.ts';
import { findTextTrack, languageOf, readTrack } from './text-tracks.ts';
import { substationOf, webvttOf } from './writers.ts';

const HOUR_MS = 3_600_000;

export const getSubtitleFile = defineEndpoint({
  operationId: 'getSubtitleFile',
  method: 'get',
  path: '/items/:id/subtitles/:file',
  summary: 'Read a text subtitle',
  description:
    'Returns WebVTT, or SubStation for a renderer of styles. `file` is an index in the stream order of the file, the bare name of a sidecar file, or `<stream id>.<ext>` of a text that the server keeps. The times are those of the correction (getSubtitleSync); `offsetMs` is added to every cue. A picture-based track is 415.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: z.object({ id: Id, file: z.string().min(1).max(255) }),
  query: z.object({
    offsetMs: queryInt(-HOUR_MS, HOUR_MS).default(0).describe('Added to every cue'),
    fileId: Id.optional().describe('The default file when absent'),
    format: z.enum(['vtt', 'ass']).default('vtt'),
    ticket: z.string().max(2000).optional().describe('Cast ticket'),
  }),
  answer: bytes('text/vtt', 'text/x-ssa'),
  errors: ['MEDIA_UNSUPPORTED_CODEC', 'STORAGE_UNAVAILABLE', 'TRANSCODE_FAILED', 'TRANSCODE_LIMIT_REACHED'],

  async handle({ params, query }, call) {
    const film = await getFilm(call, params.id, query.fileId);
    const track = await findTextTrack(call, film, params.file);
    const bytes = await readTrack(call, film, track);
    const timing = later((await findSync(call.db, track.id)) ?? AS_MADE, query.offsetMs);
    const shown = { bytes, format: track.codec, language: languageOf(track), timing };
    const body = Buffer.from(await (query.format === 'ass' ? substationOf(shown) : webvttOf(shown)));
    openToReceivers(call, query.ticket);
    return sendRanged(call, {
      size: body.length,
      etag: createHash('sha256').update(body).digest('base64url').slice(0, 22),
      modifiedAt: new Date(film.modifiedMs),
      type: query.format === 'ass' ? 'text/x-ssa; charset=utf-8' : 'text/vtt; charset=utf-8',
      cacheControl: 'private, no-cache',
      read: async ({ start, end }) => Readable.from([body.subarray(start, end + 1)]),
    });
  },
});
