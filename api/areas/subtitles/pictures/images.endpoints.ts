import { z } from 'zod';
import { openToReceivers, sendObject } from '#areas/streaming/public.ts';
import { bytes, defineEndpoint } from '#kernel/endpoint.ts';
import { queryInt } from '#kernel/schemas.ts';
import { SubtitleParams } from '../sync/sync.schemas.ts';
import { pictureTrack } from './picture-track.ts';
import { readStretch } from './read-stretch.ts';

const LONGEST_MS = 600_000;
const LAST_MS = 2_147_483_647;

const Stretch = z
  .object({
    from: queryInt(0, LAST_MS).describe('On the clock of the video, ms').meta({ example: 60_000 }),
    to: queryInt(1, LAST_MS).describe('After `from`, at most 10 minutes').meta({ example: 120_000 }),
    v: z.string().max(32).optional().describe('Version of the SubtitleSync'),
    ticket: z.string().max(2000).optional().describe('Cast ticket'),
  })
  .refine(({ from, to }) => to > from && to - from <= LONGEST_MS, {
    path: ['to'],
    error: 'to is after from, by at most 600000',
    params: { code: 'bad_range' },
  });

export const getSubtitleImages = defineEndpoint({
  operationId: 'getSubtitleImages',
  method: 'get',
  path: '/items/:id/subtitles/:streamId/images',
  summary: 'Read a stretch of a picture subtitle',
  description:
    'Packets of a Blu-ray or DVD subtitle inside the film as a CIS1 stream, at corrected times. It begins with the packets since the last one that clears the screen. After 4,096 packets or 32 MiB it ends with `cut`: request the rest from the time of the last packet, or from `untilMs` of the end record. With the present `v` the response may be cached for a day.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: SubtitleParams,
  query: Stretch,
  answer: bytes('application/octet-stream'),
  errors: ['MEDIA_UNSUPPORTED_CODEC', 'STORAGE_UNAVAILABLE', 'TRANSCODE_FAILED', 'TRANSCODE_LIMIT_REACHED'],

  async handle({ params, query }, call) {
    const { film, stretch } = await pictureTrack(call, params, query);
    const key = await readStretch(call, film.fileId, stretch);
    openToReceivers(call, query.ticket);
    return sendObject(call, {
      ...{ bucket: 'foyer-subtitles', key, type: 'application/octet-stream' },
      cacheControl: query.v === stretch.syncVersion ? 'private, max-age=86400' : 'no-store',
    });
  },
});
