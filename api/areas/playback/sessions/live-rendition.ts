import { offerTranscodeSession } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { FRAGMENTS } from '#platform/live/fragments.ts';
import {
  isRenditionOpen,
  type RenditionOptions,
  recordedRendition,
  wantRendition,
} from '#platform/live/renditions.store.ts';
import type { LiveChoice } from '../decision/live.ts';
import { placesOf, refuseFull } from './places.ts';

/** Bits a second from which a rung holds the field rate of an interlaced broadcast. */
const FIELD_RATE_BITS = 2_500_000;
const SOUND_BITS = 128_000;

function optionsOf({ rendition, pictures, decision: { video, audio } }: Omit<LiveChoice, 'offered'>): RenditionOptions {
  const audioBitrate = audio?.bitrate ?? SOUND_BITS;
  if (!video) return { audioBitrate };
  if (video.action === 'copy') {
    return { audioBitrate, copiesVideo: true, ...(rendition === FRAGMENTS && { fragments: true }) };
  }
  const { width, height, bitrate, deinterlaced: deinterlace } = video;
  const fieldRate = deinterlace && bitrate >= FIELD_RATE_BITS;
  const burned = pictures === undefined ? {} : { pictures };
  return { audioBitrate, video: { width, height, bitrate, deinterlace, fieldRate, ...burned } };
}

/**
 * Has a transcode worker encode the rendition of a decision, of the channel or of a recording of it, or joins the one that is encoded already. Throws 503 when
 * every slot is taken.
 */
export async function openRendition(
  call: Call,
  channelId: string,
  choice: Omit<LiveChoice, 'offered'> & { recordingId?: string | undefined },
): Promise<void> {
  if (choice.rendition === 'source') return;
  const rendition = recordedRendition(choice.rendition, choice.recordingId);
  if (!(await isRenditionOpen(call.db, channelId, rendition))) refuseFull(await placesOf(call));
  const id = await wantRendition(call.db, { channelId, rendition, options: optionsOf(choice) });
  call.afterCommit(() => offerTranscodeSession(call.deps.redis, id));
}
