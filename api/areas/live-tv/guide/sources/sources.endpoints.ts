import { Job, readJob } from '#areas/jobs/public.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { changeSource, deleteSource } from './change-source.ts';
import { createSource } from './create-source.ts';
import { getSource, guideParts, requestRefresh } from './source-rules.ts';
import {
  GUIDE_BYTES,
  GuideSource,
  GuideSourceChange,
  GuideSourceDraft,
  GuideSourceList,
  guideMedia,
} from './sources.schemas.ts';
import { describeSources } from './sources.view.ts';

const manages = { permission: 'library:manage' } as const;
const files = { file: { media: guideMedia, maxBytes: GUIDE_BYTES, stored: guideParts } };

async function described(call: Call, id: string): Promise<GuideSource> {
  const [source] = await describeSources(call.db, [id]);
  if (!source) throw notFound();
  return source;
}

export const listGuideSources = defineEndpoint({
  operationId: 'listGuideSources',
  method: 'get',
  path: '/live/guide/sources',
  summary: 'List guide sources',
  description: 'All of them, at most 50.',
  access: manages,
  answer: json(200, GuideSourceList),

  async handle(_input, { db }) {
    return { items: await describeSources(db) };
  },
});

export const createGuideSource = defineEndpoint({
  operationId: 'createGuideSource',
  method: 'post',
  path: '/live/guide/sources',
  summary: 'Add a guide source',
  description:
    'A worker looks at the guide first: an address that does not answer within 15 seconds, or not with XMLTV, is 502 and nothing is saved; a closed address is 400 `address_not_allowed`, an upload that is no XMLTV 400 `not_xmltv`. A refresh and an automatic match follow. 409 reasons are `duplicate-source`, `no-own-guide` for a tuner that names none, and `source-limit` beyond 50.',
  access: manages,
  body: GuideSourceDraft,
  files,
  answer: json(201, GuideSource),
  errors: ['NOT_FOUND', 'CONFLICT', 'PROVIDER_UNAVAILABLE', 'PAYLOAD_TOO_LARGE'],

  async handle({ body }, call) {
    const { row, repeated } = await createSource(call, body);
    if (repeated) call.reply.status(200);
    return described(call, row.id);
  },
});

export const updateGuideSource = defineEndpoint({
  operationId: 'updateGuideSource',
  method: 'patch',
  path: '/live/guide/sources/:id',
  summary: 'Change a guide source',
  description:
    'A new address, file or headers are looked at first, as by createGuideSource. Disabling takes the programmes out of the guide at once and keeps the mappings. What changes the content is followed by a refresh. 409 `managed-by-resource` for fields that a resource declares.',
  access: manages,
  params: IdParams,
  body: GuideSourceChange,
  files,
  answer: json(200, GuideSource),
  errors: ['CONFLICT', 'PROVIDER_UNAVAILABLE', 'PAYLOAD_TOO_LARGE'],

  async handle({ params, body }, call) {
    const row = await changeSource(call, params.id, body);
    return described(call, row.id);
  },
});

export const deleteGuideSource = defineEndpoint({
  operationId: 'deleteGuideSource',
  method: 'delete',
  path: '/live/guide/sources/:id',
  summary: 'Delete a guide source',
  description:
    'Its mappings and programmes go; scheduled recordings keep their times. 409 `managed-by-resource` for one that a resource declares.',
  access: manages,
  params: IdParams,
  answer: none(),
  errors: ['CONFLICT'],

  async handle({ params }, call) {
    await deleteSource(call, params.id);
  },
});

export const refreshGuideSource = defineEndpoint({
  operationId: 'refreshGuideSource',
  method: 'post',
  path: '/live/guide/sources/:id/refresh',
  summary: 'Refresh a guide source',
  description:
    'A refresh that waits or runs already is answered with 200 and its job. A failure keeps the old guide and is tried again after 5, 15 and 60 minutes.',
  access: manages,
  params: IdParams,
  answer: json(202, Job),
  also: [200],

  async handle({ params }, call) {
    const { id, known } = await requestRefresh(call, await getSource(call.db, params.id));
    if (known) call.reply.status(200);
    return readJob(call, id);
  },
});
