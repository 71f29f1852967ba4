import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { ARTWORK_BYTES, artworkMedia } from '#kernel/images.ts';
import { IdParams } from '#kernel/schemas.ts';
import { Image, PortraitChoice, PortraitQuery, Portraits, PortraitUpload } from '../artwork.schemas.ts';
import { choosePortrait, getPortrayed, listPortraits, resetPortrait, uploadPortrait } from './portraits.ts';

const edits = { permission: 'item:edit' } as const;

export const listPersonPortraits = defineEndpoint({
  operationId: 'listPersonPortraits',
  method: 'get',
  path: '/people/:id/portrait',
  summary: 'List the portraits of a person',
  description:
    'Without `item:edit` only the selected portrait is returned. With `candidates`, which requires `item:edit`, the agents are queried too. A person of whom the caller may see no credited item is 404.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: PortraitQuery,
  answer: json(200, Portraits),

  async handle({ params, query }, call) {
    return listPortraits(call, await getPortrayed(call, params.id), query);
  },
});

export const uploadPersonPortrait = defineEndpoint({
  operationId: 'uploadPersonPortrait',
  method: 'post',
  path: '/people/:id/portrait',
  summary: 'Upload a portrait',
  description:
    'A form with the picture as `file`, accepted as by uploadItemArtwork. The focus is set to the upper third, where faces are.',
  access: edits,
  params: IdParams,
  body: PortraitUpload,
  files: { file: { media: artworkMedia, maxBytes: ARTWORK_BYTES } },
  answer: json(201, Image),
  errors: ['CONFLICT', 'MEDIA_UNSUPPORTED_CODEC'],

  async handle({ params, body }, call) {
    return uploadPortrait(call, await getPortrayed(call, params.id), body);
  },
});

export const setPersonPortrait = defineEndpoint({
  operationId: 'setPersonPortrait',
  method: 'put',
  path: '/people/:id/portrait',
  summary: 'Choose the portrait of a person',
  description:
    'An image of the person, a candidate, an address, a face, or none: `none` shows initials and stays so while locked. An address is downloaded first, with the refusals of importItemArtwork.',
  access: edits,
  params: IdParams,
  body: PortraitChoice,
  answer: json(200, Image.nullable()),
  errors: ['CONFLICT', 'MEDIA_UNSUPPORTED_CODEC', 'PAYLOAD_TOO_LARGE', 'PROVIDER_UNAVAILABLE', 'RATE_LIMITED'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    return choosePortrait(call, await getPortrayed(call, params.id), body);
  },
});

export const resetPersonPortrait = defineEndpoint({
  operationId: 'resetPersonPortrait',
  method: 'delete',
  path: '/people/:id/portrait',
  summary: 'Choose the portrait automatically',
  description: 'Unlocks the portrait. A person without any picture shows initials. A repeat changes nothing.',
  access: edits,
  params: IdParams,
  answer: none(),

  async handle({ params }, call) {
    await resetPortrait(call, await getPortrayed(call, params.id));
  },
});
