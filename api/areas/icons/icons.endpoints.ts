import { bytes, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import {
  DeleteIconQuery,
  Icon,
  IconChange,
  IconsQuery,
  IconUploadResult,
  ImageQuery,
  NewIcons,
  UPLOAD_BYTES,
} from './icons.schemas.ts';
import { pageOfIcons } from './list-icons.ts';
import { addIcons as storeUpload } from './picture/add-icons.ts';
import { changeIcon, deleteIconRow } from './picture/change-icon.ts';
import { serveImage } from './picture/serve-image.ts';

const manages = { permission: 'library:manage' } as const;
const media = ['image/png', 'image/webp', 'image/jpeg', 'image/svg+xml'] as const;
const PICTURE_BYTES = 2 << 20;

export const addIcons = defineEndpoint({
  operationId: 'addIcons',
  method: 'post',
  path: '/icon-sets/:id/icons',
  summary: 'Add icons to a set',
  description:
    'Each file is judged for itself: `refused` says which were not taken and why. When all are refused the answer is 400 with the same list in `details.issues`. A drawing becomes pixels once and is then discarded. A ZIP has at most 500 files and 64 MiB of content; its folders are ignored. An icon whose name is that of a slot, such as `nav-home`, fills the slot. A 409 reports `built-in`, `managed-by-resource` or `too-many`.',
  access: manages,
  params: IdParams,
  body: NewIcons,
  files: { files: { media: [...media, 'application/zip'], maxBytes: UPLOAD_BYTES, many: 100 } },
  answer: json(201, IconUploadResult),
  errors: ['CONFLICT'],
  emits: ['settings.changed'],

  async handle({ params, body }, call) {
    return storeUpload(call, params.id, body);
  },
});

export const listIcons = defineEndpoint({
  operationId: 'listIcons',
  method: 'get',
  path: '/icons',
  summary: 'List icons of all sets',
  description:
    'For choosing an icon of a library or type. `q` is looked for in name, label and keywords, with the best matches first.',
  access: { signedIn: true },
  query: IconsQuery,
  answer: page(Icon),

  async handle({ query }, call) {
    return pageOfIcons(call, query);
  },
});

export const updateIcon = defineEndpoint({
  operationId: 'updateIcon',
  method: 'patch',
  path: '/icons/:id',
  summary: 'Update an icon',
  description:
    'A new picture keeps the id and raises `version`, so every place that names the icon follows. A slot has one icon in a set; the former one loses it. A picture that is refused is 400 `icon_rejected` with the reason in its message, and nothing changes. A 409 reports `duplicate-name`, `built-in` or `managed-by-resource`.',
  access: manages,
  params: IdParams,
  body: IconChange,
  files: { file: { media: [...media], maxBytes: PICTURE_BYTES } },
  answer: json(200, Icon),
  errors: ['CONFLICT'],
  emits: ['settings.changed'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    return changeIcon(call, params.id, body);
  },
});

export const deleteIcon = defineEndpoint({
  operationId: 'deleteIcon',
  method: 'delete',
  path: '/icons/:id',
  summary: 'Delete an icon',
  description:
    'An icon that libraries or types name is 409 `icon-in-use`, which lists them; with `force` they lose it and show the icon of their type. Other 409 reasons are `built-in` and `managed-by-resource`.',
  access: manages,
  params: IdParams,
  query: DeleteIconQuery,
  answer: none(),
  errors: ['CONFLICT'],
  emits: ['settings.changed'],

  async handle({ params, query }, call) {
    await deleteIconRow(call, params.id, query);
  },
});

export const getIconImage = defineEndpoint({
  operationId: 'getIconImage',
  method: 'get',
  path: '/icons/:id/image',
  summary: 'Get the picture of an icon',
  description:
    'A square with transparent ground: the stored size next above `size`. With the current version in `v` the answer is immutable for a year; otherwise it must be revalidated by its ETag.',
  access: { signedIn: true },
  castTicket: true,
  params: IdParams,
  query: ImageQuery,
  answer: bytes('image/webp', 'image/png'),

  async handle({ params, query }, call) {
    return serveImage(call, params.id, query);
  },
});
