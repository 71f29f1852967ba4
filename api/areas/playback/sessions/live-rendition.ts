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
  const copied = { audioBitrate: audio?.bitrate ?? SOUND_BITS, copiesVideo: true };
  if (video?.action === 'copy') return rendition === FRAGMENTS ? { ...copied, fragments: true } : copied;
  return {
    audioBitrate: audio?.bitrate ?? SOUND_BITS,
    ...(video && {
      video: {
        ...{ width: video.width, height: video.height, bitrate: video.bitrate, deinterlace: video.deinterlaced },
        fieldRate: video.deinterlaced && video.bitrate >= FIELD_RATE_BITS,
        ...(pictures !== undefined && { pictures }),
      },
    }),
  };
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
