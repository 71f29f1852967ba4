import { createHash } from 'node:crypto';
import type { VisibleItem } from '#areas/items/public.ts';
import type { Bytes, Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { knowsEtag } from '#kernel/etag.ts';
import type { ItemImageQuery } from './artwork.schemas.ts';
import { ancestorsOf } from './artwork-set.ts';
import { shownOf } from './choosing.store.ts';
import type { ArtworkKind } from './kinds.ts';
import { tileBytes } from './serving/bytes.ts';
import { getServedImage } from './serving/images.view.ts';
import { imageHeaders, keepHeaders, serveImage, unchanged } from './serving/serve-image.ts';

/** Sends the selected image of an item's kind, or what `fallback` allows instead. Throws 404 when there is none. */
export async function serveItemImage(
  call: Call,
  item: VisibleItem,
  { kind, query }: { kind: ArtworkKind; query: ItemImageQuery },
): Promise<Bytes> {
  const owners = query.fallback === 'none' ? [item.id] : [item.id, ...ancestorsOf(item)];
  for (const id of owners) {
    const shown = (await shownOf(call.db, id, [kind])).get(kind) ?? [];
    const [first] = shown.slice(id === item.id ? query.index : 0);
    const image = first && (await getServedImage(call.db, call.who, first).catch(() => undefined));
    if (image) return serveImage(call, image, { ...query, blur: 0, animated: false });
  }
  if (query.fallback !== 'generated') throw notFound();
  return serveTile(call, item, { kind, query });
}

/** Dark grounds on which a white title is read. */
const GROUNDS = [
  '#7a2e2e',
  '#7a4a1e',
  '#5c5a1a',
  '#2e5e34',
  '#1f5c5c',
  '#23507a',
  '#3b3f86',
  '#5a3a86',
  '#7a2f66',
  '#4a4a55',
];
const SHAPES: Readonly<Record<string, readonly [across: number, down: number]>> = {
  ...{ poster: [2, 3], cover: [1, 1], square: [1, 1], disc: [1, 1], portrait: [2, 3], avatar: [1, 1], spine: [1, 6] },
  ...{ logo: [4, 1], banner: [16, 3], clearart: [16, 9] },
};
const TILE_WIDTH = 480;

async function serveTile(
  call: Call,
  item: VisibleItem,
  { kind, query }: { kind: ArtworkKind; query: ItemImageQuery },
): Promise<Bytes> {
  const [across, down] = SHAPES[kind] ?? [16, 9];
  const width = Math.min(960, query.width ?? TILE_WIDTH);
  const height = Math.max(1, Math.round((width * down) / across));
  const hash = createHash('sha256').update(item.id).digest();
  const tile = {
    title: item.title.slice(0, 300),
    background: GROUNDS[(hash[0] ?? 0) % GROUNDS.length] ?? '#4a4a55',
    width,
    height,
  };
  const key = createHash('sha256').update(JSON.stringify(tile)).digest('base64url').slice(0, 22);
  imageHeaders(call, false);
  keepHeaders(call, `"tile-${key}"`, false);
  if (knowsEtag(call.headers['if-none-match'], `"tile-${key}"`)) return unchanged(call);
  const body = await tileBytes(call, `tile/${key}`, () =>
    call.deps.pictures.tile(tile, { format: 'webp', width, height, fit: 'fill', enlarge: true }),
  );
  return { body, type: 'image/webp', length: body.length };
}
