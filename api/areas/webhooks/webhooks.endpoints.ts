import { displayNameOf } from '#areas/accounts/public.ts';
import { visibleLibraryIds } from '#identity/visibility.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { invalid, notFound } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { newSecret } from '#platform/ids.ts';
import { OutboundRefused } from '#platform/outbound.ts';
import { openNetworks, webhookAddressCheck } from './addresses.ts';
import { changedRow, requireOneLine, requireUnmasked } from './change.ts';
import { dropWaiting, wakeLane } from './deliveries.store.ts';
import { subscribableEvents } from './subscriptions.ts';
import { Webhook, WebhookChange, WebhookDraft, WebhookList, WebhookQuery } from './webhooks.schemas.ts';
import {
  findOpened,
  findWebhook,
  type HeldWebhook,
  insertWebhook,
  listWebhookRows,
  lockWebhook,
  removeWebhook,
  stateOf,
  toWebhook,
  updateWebhookRow,
} from './webhooks.store.ts';

const formats = [
  { id: 'json', name: 'JSON', urlHint: 'https://example.org/hook' },
  { id: 'discord', name: 'Discord', urlHint: 'https://discord.com/api/webhooks/…/…' },
  { id: 'slack', name: 'Slack', urlHint: 'https://hooks.slack.com/services/…' },
  { id: 'matrix', name: 'Matrix', urlHint: 'https://…/_matrix/client/v3/rooms/{room}/send/m.room.message' },
  { id: 'ntfy', name: 'ntfy', urlHint: 'https://ntfy.sh/{topic}' },
] as const;

export const listWebhooks = defineEndpoint({
  operationId: 'listWebhooks',
  method: 'get',
  path: '/webhooks',
  summary: 'List webhooks',
  description:
    'Sorted by name, without secrets and header values. The answer also has the events that a webhook can subscribe to and the formats.',
  access: { permission: 'settings:manage' },
  answer: json(200, WebhookList),

  async handle(_input, { db, deps }) {
    const rows = await listWebhookRows(db);
    return { items: rows.map((row) => toWebhook(deps.keys, row)), events: subscribableEvents, formats: [...formats] };
  },
});

export const createWebhook = defineEndpoint({
  operationId: 'createWebhook',
  method: 'post',
  path: '/webhooks',
  summary: 'Create a webhook',
  description:
    'Without `secret` one is generated and shown once in this answer. The address is checked: private networks are 400 unless `webhooks.allowedNetworks` has them. Nothing is sent. The webhook acts with the rights of the caller. A server has at most 100 webhooks (409 `webhook-limit`).',
  access: { permission: 'settings:manage' },
  body: WebhookDraft,
  answer: json(201, Webhook),
  unrepeated: ['secret'],
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { db, deps } = call;
    requireUnmasked(body.url);
    await refuseAddress(call, body.url);
    await refuseLibraries(call, body.libraryIds);
    const { id, generated } = await insertWebhook(db, deps.keys, { ...body, owner: await ownerOf(call) });
    await audit(call, 'webhook.created', { webhookId: id, name: body.name, events: body.events, format: body.format });
    return shown(call, id, generated);
  },
});

export const getWebhook = defineEndpoint({
  operationId: 'getWebhook',
  method: 'get',
  path: '/webhooks/:id',
  summary: 'Get a webhook',
  description:
    'With `secret=true` the answer also has the secret, the whole address and the header values, and the reading is written to the audit log.',
  access: { permission: 'settings:manage' },
  params: IdParams,
  query: WebhookQuery,
  answer: json(200, Webhook),

  async handle({ params, query }, call) {
    const row = await findWebhook(call.db, params.id);
    if (!row) throw notFound();
    if (!query.secret) return toWebhook(call.deps.keys, row);
    await audit(call, 'webhook.secret-read', { webhookId: row.id, name: row.name });
    call.reply.header('Cache-Control', 'no-store');
    return toWebhook(call.deps.keys, row, true);
  },
});

export const updateWebhook = defineEndpoint({
  operationId: 'updateWebhook',
  method: 'patch',
  path: '/webhooks/:id',
  summary: 'Change a webhook',
  description:
    'A new secret or address applies to every attempt from then on, including pending deliveries; `secret` null generates one, shown once. A new host drops header values that are not sent again. `enabled` true ends the states switched-off and owner-lost and makes the caller the owner of a webhook that lost its owner.',
  access: { permission: 'settings:manage' },
  params: IdParams,
  body: WebhookChange,
  answer: json(200, Webhook),

  async handle({ params, body }, call) {
    if (body.url !== undefined) await refuseAddress(call, body.url);
    await refuseLibraries(call, body.libraryIds ?? undefined);
    const row = await lockWebhook(call.db, params.id);
    if (!row) throw notFound();
    const made = body.secret === null ? newSecret('') : undefined;
    const change = changedRow(call.deps.keys, row, { ...body, secret: made ?? body.secret });
    const owner = await newOwner(call, row);
    await updateWebhookRow(call.db, row.id, { ...change, ...owner, updated_at: call.now });
    const after = await findWebhook(call.db, row.id);
    if (row.expired || (after && stateOf(after) !== 'enabled')) await dropWaiting(call.db, row.id);
    else if (!findOpened(call.deps.keys, row)) await wakeLane(call.db, row.id);
    await audit(call, 'webhook.changed', { webhookId: row.id, ...auditedChange(body) });
    return shown(call, row.id, made);
  },
});

export const deleteWebhook = defineEndpoint({
  operationId: 'deleteWebhook',
  method: 'delete',
  path: '/webhooks/:id',
  summary: 'Delete a webhook',
  description: 'Deletes its deliveries too; a request in flight is ended.',
  access: { permission: 'settings:manage' },
  params: IdParams,
  answer: none(),

  async handle({ params }, call) {
    const name = await removeWebhook(call.db, params.id);
    if (name === undefined) throw notFound();
    await audit(call, 'webhook.deleted', { webhookId: params.id, name });
  },
});

/** 400 for an address that deliveries may not reach. */
async function refuseAddress({ deps }: Call, url: string): Promise<void> {
  requireOneLine(url);
  try {
    await webhookAddressCheck(deps.config)(url, openNetworks(deps.config, deps.settings));
  } catch (error) {
    if (!(error instanceof OutboundRefused)) return; // a name without an address is checked again at sending
    throw invalid(
      ['body', 'url'],
      'address_not_allowed',
      'The setting webhooks.allowedNetworks permits private networks',
    );
  }
}

async function refuseLibraries({ db, who }: Call, ids: readonly string[] | undefined): Promise<void> {
  if (!ids?.length) return;
  const visible = await visibleLibraryIds(db, who, ids);
  const unknown = ids.findIndex((id) => !visible.includes(id));
  if (unknown >= 0) throw invalid(['body', 'libraryIds', unknown], 'unknown_library', 'The library does not exist');
}

/** A webhook that lost its owner belongs to the account that saves it. */
async function newOwner(call: Call, { owner_lost: lost, expired }: HeldWebhook): Promise<object> {
  if (!lost && !expired) return {};
  const { id, name } = await ownerOf(call);
  return { owner_id: id, owner_name: name, owner_lost: false };
}

async function ownerOf({ db, who }: Call): Promise<{ id: string; name: string }> {
  return { id: who.accountId, name: await displayNameOf(db, who.accountId) };
}

/** The change without the values of secret fields. */
function auditedChange({ secret, url, headers, ...open }: WebhookChange): object {
  const named = { ...(url !== undefined && { url: true }), ...(secret !== undefined && { secret: true }) };
  return { ...open, ...named, headers: Object.keys(headers ?? {}) };
}

/** The webhook as stored, with a secret that was just generated. */
async function shown({ db, deps, reply }: Call, id: string, secret: string | undefined): Promise<Webhook> {
  const row = await findWebhook(db, id);
  if (!row) throw notFound();
  if (secret !== undefined) reply.header('Cache-Control', 'no-store');
  return { ...toWebhook(deps.keys, row), ...(secret !== undefined && { secret }) };
}
