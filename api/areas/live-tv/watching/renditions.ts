import { offerTranscodeSession } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { findRendition, keepRenditionWanted, wantRendition } from '#platform/live/renditions.store.ts';

/** A sign of life of a viewer: the rendition goes on, or is encoded again after a pause. */
export async function keepRendition({ deps }: Call, channelId: string, rendition: string): Promise<void> {
  if (rendition === 'source' || (await keepRenditionWanted(deps.db, channelId, rendition))) return;
  const before = await findRendition(deps.db, channelId, rendition);
  if (!before) return;
  const id = await wantRendition(deps.db, { channelId, rendition, options: before.options });
  await offerTranscodeSession(deps.redis, id);
}
