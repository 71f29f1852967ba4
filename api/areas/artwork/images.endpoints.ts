import { openToReceivers } from '#areas/streaming/public.ts';
import { may } from '#identity/principal.ts';
import { bytes, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { IdParams } from '#kernel/schemas.ts';
import { Image, ImageChange, ImageInfo, ImageQuery } from './artwork.schemas.ts';
import { imageAnswer } from './artwork-set.ts';
import { getImageRow } from './editing/add-image.ts';
import { servePreview } from './editing/candidate-picture.ts';
import { changeableImage, changeImage, deleteImageRow } from './editing/change-image.ts';
import { usersOf } from './images.view.ts';
import { findServedImage, getServedImage } from './serving/images.view.ts';
import { serveImage } from './serving/serve-image.ts';

const CHANGEABLE = ['item', 'person', 'library', 'profile'];

export const getImage = defineEndpoint({
  operationId: 'getImage',
  method: 'get',
  path: '/images/:id',
  summary: 'Read an image in a size and format',
  description:
    'Returns the bytes of any image of the API. Width and height are rounded up to one of 13 sizes and never exceed the original. `auto` follows Accept and answers `Vary: Accept`. `cover` crops about the focus. With the current `v` the answer is immutable; an old `v` returns the present image. Metadata is removed. `original` requires `item:edit`. While the object store is unavailable, images in memory are served and others are 503. HEAD is answered as GET.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: IdParams,
  query: ImageQuery,
  answer: bytes('image/avif', 'image/webp', 'image/jpeg', 'image/png'),

  async handle({ params, query }, call) {
    const image = await findServedImage(call.db, call.who, params.id);
    if (!image) return servePreview(call, params.id);
    openToReceivers(call, query.ticket);
    return serveImage(call, image, query);
  },
});

export const getImageInfo = defineEndpoint({
  operationId: 'getImageInfo',
  method: 'get',
  path: '/images/:id/info',
  summary: 'Read the properties of an image',
  description:
    'Returns the palette, focus and source of an image, so that a page can be themed by its poster. `sourceUrl`, `addedBy` and `usedBy` are included with `item:edit` only.',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: json(200, ImageInfo),

  async handle({ params }, call) {
    const { id } = await getServedImage(call.db, call.who, params.id);
    const row = await getImageRow(call, id);
    const image = await imageAnswer(call, row);
    return may(call.who, 'item:edit') ? { ...image, usedBy: await usersOf(call.db, image) } : image;
  },
});

export const updateImage = defineEndpoint({
  operationId: 'updateImage',
  method: 'patch',
  path: '/images/:id',
  summary: 'Change the focus, crop or rotation of an image',
  description:
    'Instructions are kept over the untouched original, so null undoes them; the version rises and made sizes are dropped. Rotation comes first, then `crop` as fractions of the rotated picture. 409 `not-artwork` for a photo and for crops of faces.',
  access: { permission: 'item:edit' },
  params: IdParams,
  body: ImageChange,
  answer: json(200, Image),
  errors: ['CONFLICT'],
  emits: ['item.updated'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    const row = await changeableImage(call, params.id, CHANGEABLE);
    return imageAnswer(call, await changeImage(call, row, body));
  },
});

export const deleteImage = defineEndpoint({
  operationId: 'deleteImage',
  method: 'delete',
  path: '/images/:id',
  summary: 'Take an image from its owner',
  description:
    'If it was selected, the next automatic choice follows. An image of an agent is remembered and not fetched again; a local picture is hidden until the file changes, and the file stays. 409 `not-artwork` for a photo and for images that are not artwork, `in-use` with `details.usedBy` when something else selected it.',
  access: { permission: 'item:edit' },
  params: IdParams,
  answer: none(),
  errors: ['CONFLICT'],
  emits: ['item.updated'],

  async handle({ params }, call) {
    await deleteImageRow(call, await changeableImage(call, params.id, ['item', 'person']));
  },
});
