import type { LiveChoice } from '#areas/playback/public.ts';
import { offerTranscodeSession } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import {
  findRendition,
  keepRenditionWanted,
  type RenditionOptions,
  wantRendition,
} from '#platform/live/renditions.store.ts';

/** Bits a second from which a rung holds the field rate of an interlaced broadcast. */
const FIELD_RATE_BITS = 2_500_000;

function optionsOf({ decision: { video, audio } }: LiveChoice): RenditionOptions {
  return {
    audioBitrate: audio?.bitrate ?? 128_000,
    ...(video && {
      video: {
        width: video.width,
        height: video.height,
        bitrate: video.bitrate,
        deinterlace: video.deinterlaced,
        fieldRate: video.deinterlaced && video.bitrate >= FIELD_RATE_BITS,
      },
    }),
  };
}

/** Has a transcode worker encode the rendition of a decision, or joins the one that is encoded already. */
export async function openRendition(call: Call, channelId: string, choice: LiveChoice): Promise<void> {
  const { rendition } = choice;
  const id = await wantRendition(call.db, { channelId, rendition, options: optionsOf(choice) });
  call.afterCommit(() => offerTranscodeSession(call.deps.redis, id));
}

/** A sign of life of a viewer: the rendition goes on, or is encoded again after a pause. */
export async function keepRendition({ deps }: Call, channelId: string, rendition: string): Promise<void> {
  if (rendition === 'source' || (await keepRenditionWanted(deps.db, channelId, rendition))) return;
  const before = await findRendition(deps.db, channelId, rendition);
  if (!before) return;
  const id = await wantRendition(deps.db, { channelId, rendition, options: before.options });
  await offerTranscodeSession(deps.redis, id);
}
