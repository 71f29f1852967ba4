import { getVisibleItem } from '#areas/items/public.ts';
import { openToReceivers } from '#areas/streaming/public.ts';
import { bytes, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { ARTWORK_BYTES, artworkMedia } from '#kernel/images.ts';
import { IdParams } from '#kernel/schemas.ts';
import {
  ArtworkCapture,
  ArtworkChoice,
  ArtworkImport,
  ArtworkSet,
  ArtworkUpload,
  Candidates,
  CandidatesQuery,
  DiscardQuery,
  Image,
  ItemImageQuery,
  KindParams,
  KindsQuery,
} from './artwork.schemas.ts';
import { artworkSet } from './artwork-set.ts';
import { findCandidates } from './candidates.ts';
import { captureFor, importFor, uploadFor } from './editing/add-to-item.ts';
import { chooseArtwork, resetArtwork } from './editing/choose.ts';
import { serveItemImage } from './item-image.ts';

const edits = { permission: 'item:edit' } as const;

export const listItemArtwork = defineEndpoint({
  operationId: 'listItemArtwork',
  method: 'get',
  path: '/items/:id/artwork',
  summary: 'List the images of an item',
  description:
    'Returns every image that is kept for the item, by kind. Without `item:edit` only the selected ones are listed. A kind for which the item has no image shows the selected ones of its parent, whose `owner` is the parent.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: KindsQuery,
  answer: json(200, ArtworkSet),

  async handle({ params, query }, call) {
    return artworkSet(call, await getVisibleItem(call.db, call.who, params.id), query.kind);
  },
});

export const searchItemArtwork = defineEndpoint({
  operationId: 'searchItemArtwork',
  method: 'get',
  path: '/items/:id/artwork-candidates',
  summary: 'Find pictures of an item in catalogues',
  description:
    "Queries the agents of the item's library that offer artwork, by the item's external ids. Previews are addresses of this server. 409 `not-matched` for an item without identity, 502 when no agent answers. At most 20 a minute.",
  access: edits,
  params: IdParams,
  query: CandidatesQuery,
  answer: json(200, Candidates),
  errors: ['CONFLICT', 'PROVIDER_UNAVAILABLE', 'RATE_LIMITED'],

  async handle({ params, query }, call) {
    return findCandidates(call, await getVisibleItem(call.db, call.who, params.id), query);
  },
});

export const uploadItemArtwork = defineEndpoint({
  operationId: 'uploadItemArtwork',
  method: 'post',
  path: '/items/:id/artwork',
  summary: 'Upload an image of an item',
  description:
    'A form with the picture as `file`. The same bytes again return the existing image with 200. A kind that the type does not have is 400, a side under 48 pixels is 400 `image_too_small`, bytes that do not decode are 400 `not_an_image`. At most 50 images are kept of a kind (409 `image-limit`).',
  access: edits,
  params: IdParams,
  body: ArtworkUpload,
  files: { file: { media: artworkMedia, maxBytes: ARTWORK_BYTES } },
  answer: json(201, Image),
  errors: ['CONFLICT', 'MEDIA_UNSUPPORTED_CODEC'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    return uploadFor(call, await getVisibleItem(call.db, call.who, params.id), body);
  },
});

export const importItemArtwork = defineEndpoint({
  operationId: 'importItemArtwork',
  method: 'post',
  path: '/items/:id/artwork/import',
  summary: 'Download an image of an item',
  description:
    'Downloads a candidate of searchItemArtwork, or a public address by http or https. An expired candidate is 404, an address that is not public is 400 `address_not_allowed`, and 502 reports that the other server failed. At most 60 addresses an hour.',
  access: edits,
  params: IdParams,
  body: ArtworkImport,
  answer: json(201, Image),
  errors: ['CONFLICT', 'MEDIA_UNSUPPORTED_CODEC', 'PAYLOAD_TOO_LARGE', 'PROVIDER_UNAVAILABLE', 'RATE_LIMITED'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    return importFor(call, await getVisibleItem(call.db, call.who, params.id), body);
  },
});

export const captureItemArtwork = defineEndpoint({
  operationId: 'captureItemArtwork',
  method: 'post',
  path: '/items/:id/artwork/frame',
  summary: 'Take a frame of a film as an image',
  description:
    'One exact frame, without HDR and deinterlaced; a poster is its middle, 2 by 3. With `preview` the answer is 200 and the image lives for 10 minutes. 400 beyond the end, 415 `MEDIA_NOT_PLAYABLE` for a file without frames, 423 while the storage is unavailable, 503 while too many frames wait.',
  access: edits,
  params: IdParams,
  body: ArtworkCapture,
  answer: json(201, Image),
  errors: ['CONFLICT', 'MEDIA_NOT_PLAYABLE', 'STORAGE_UNAVAILABLE', 'TRANSCODE_LIMIT_REACHED'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    return captureFor(call, await getVisibleItem(call.db, call.who, params.id), body);
  },
});

export const getItemArtwork = defineEndpoint({
  operationId: 'getItemArtwork',
  method: 'get',
  path: '/items/:id/artwork/:kind',
  summary: 'Read the selected image of an item',
  description:
    'A stable address for scripts, receivers and feeds. The bytes are those of getImage; since the choice can change, every use is revalidated by ETag. `fallback` allows the image of a parent, or also a tile with the title.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: KindParams,
  query: ItemImageQuery,
  answer: bytes('image/avif', 'image/webp', 'image/jpeg', 'image/png'),

  async handle({ params, query }, call) {
    const item = await getVisibleItem(call.db, call.who, params.id);
    openToReceivers(call, query.ticket);
    return serveItemImage(call, item, { kind: params.kind, query });
  },
});

export const setItemArtwork = defineEndpoint({
  operationId: 'setItemArtwork',
  method: 'put',
  path: '/items/:id/artwork/:kind',
  summary: 'Choose the images of a kind',
  description:
    'The whole choice of the kind, in order; more than one only for backdrops. An empty list shows none and stays so while locked. The images must belong to this item, its parent or its children. Images that are left out are kept.',
  access: edits,
  params: KindParams,
  body: ArtworkChoice,
  answer: json(200, ArtworkSet),
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    const item = await getVisibleItem(call.db, call.who, params.id);
    await chooseArtwork(call, item, { kind: params.kind, ...body });
    return artworkSet(call, item);
  },
});

export const resetItemArtwork = defineEndpoint({
  operationId: 'resetItemArtwork',
  method: 'delete',
  path: '/items/:id/artwork/:kind',
  summary: 'Choose the images of a kind automatically',
  description:
    'Unlocks the kind and has its pictures looked for again. With `discard` uploaded and imported images of the kind are deleted. A repeat changes nothing.',
  access: edits,
  params: KindParams,
  query: DiscardQuery,
  answer: none(),
  emits: ['item.updated'],

  async handle({ params, query }, call) {
    const item = await getVisibleItem(call.db, call.who, params.id);
    await resetArtwork(call, item, { kind: params.kind, discard: query.discard });
  },
});
