import { PICTURE_CAPTIONS, type ProbedFile } from '#platform/media.ts';
import { PacketFinder } from '../captions/packets.ts';
import { CaptionReader } from '../captions/reader.ts';
import type { ByteSource } from './byte-source.ts';

/** Stations send the bytes of captions with each picture, also where they are empty. */
const LOOKED_AT = 2 << 20;

/** Captions inside the pictures of a transport stream, which is read whole anyway, are a track of their own. */
export async function withPictureCaptions(file: ProbedFile, source: ByteSource): Promise<ProbedFile> {
  const reader = new CaptionReader();
  const bytes = await source.read(0, Math.min(LOOKED_AT, source.size));
  for (const packet of new PacketFinder().push(Buffer.from(bytes))) reader.push(packet);
  if (!reader.services().some(({ kind }) => kind !== 'teletext')) return file;
  const flags = { default: false, forced: false, hearingImpaired: true };
  return {
    ...file,
    streams: [...file.streams, { index: PICTURE_CAPTIONS, kind: 'subtitle', codec: 'eia_608', ...flags }],
  };
}
