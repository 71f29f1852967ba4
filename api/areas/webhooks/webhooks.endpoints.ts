import { onlyVisibleLibraries } from '#identity/visibility.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { newId, newSecret } from '#platform/ids.ts';
import { OutboundRefused } from '#platform/outbound.ts';
import { openNetworks, webhookAddressCheck } from './addresses.ts';
import { changedRow, requireOneLine, requireUnmasked } from './change.ts';
import { dropWaiting, wakeLane } from './deliveries.store.ts';
import { subscribableEvents } from './subscriptions.ts';
import { Webhook, WebhookChange, WebhookDraft, WebhookList, WebhookQuery } from './webhooks.schemas.ts';
import {
  countWebhooks,
  findOpened,
  findWebhook,
  type HeldWebhook,
  listWebhookRows,
  lockWebhook,
  MOST_WEBHOOKS,
  sealerFor,
  stateOf,
  toWebhook,
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
  summary: 'List webhooks, and what may be subscribed to',
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
  summary: 'Make a webhook; a secret that is made here is shown once',
  access: { permission: 'settings:manage' },
  body: WebhookDraft,
  answer: json(201, Webhook),
  unrepeated: ['secret'],
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { db, who, deps } = call;
    requireUnmasked(body.url);
    await refuseAddress(call, body.url);
    await refuseLibraries(call, body.libraryIds);
    if ((await countWebhooks(db)) >= MOST_WEBHOOKS)
      throw conflict('webhook-limit', `A server has at most ${MOST_WEBHOOKS} webhooks`);
    const id = newId();
    const secret = body.secret ?? newSecret('');
    const sealed = sealerFor(deps.keys, id);
    const { headers = {} } = body;
    await db('webhooks').insert({
      id,
      name: body.name,
      url: sealed('url', body.url),
      headers: sealed('headers', JSON.stringify(headers)),
      header_names: Object.keys(headers),
      secret: sealed('secret', secret),
      format: body.format,
      events: body.events,
      library_ids: body.libraryIds?.length ? body.libraryIds : null,
      enabled: body.enabled,
      owner_id: who.accountId,
      owner_name: await nameOf(call),
    });
    await audit(call, 'webhook.created', { webhookId: id, name: body.name, events: body.events, format: body.format });
    return shown(call, id, body.secret === undefined ? secret : undefined);
  },
});

export const getWebhook = defineEndpoint({
  operationId: 'getWebhook',
  method: 'get',
  path: '/webhooks/:id',
  summary: 'Get a webhook; with secret=true also its secret, whole address and header values',
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
  summary: 'Change a webhook; waiting deliveries go by the new secret and address',
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
    await call
      .db('webhooks')
      .where({ id: row.id })
      .update({ ...change, ...owner, updated_at: call.now });
    const after = await findWebhook(call.db, row.id);
    if (row.expired || (after && stateOf(after) !== 'enabled')) await dropWaiting(call.db, row.id);
    else if (!findOpened(call.deps.keys, row)) await wakeLane(call.db, row.id);
    await audit(call, 'webhook.changed', { webhookId: row.id, ...changesTold(body) });
    return shown(call, row.id, made);
  },
});

export const deleteWebhook = defineEndpoint({
  operationId: 'deleteWebhook',
  method: 'delete',
  path: '/webhooks/:id',
  summary: 'Delete a webhook with its deliveries; a request in flight is ended',
  access: { permission: 'settings:manage' },
  params: IdParams,
  answer: none(),

  async handle({ params }, call) {
    const [gone] = await call.db('webhooks').where({ id: params.id }).delete().returning('name');
    if (!gone) throw notFound();
    await audit(call, 'webhook.deleted', { webhookId: params.id, name: gone.name });
  },
});

/** 400 with the setting's name for an address that deliveries would be refused. */
async function refuseAddress({ deps }: Call, url: string): Promise<void> {
  requireOneLine(url);
  try {
    await webhookAddressCheck(deps.config)(url, openNetworks(deps.config, deps.settings));
  } catch (error) {
    if (!(error instanceof OutboundRefused)) return; // a name that has no address now may have one at sending
    throw invalid(['body', 'url'], 'address_not_allowed', 'Private networks are opened by webhooks.allowedNetworks');
  }
}

async function refuseLibraries({ db, who }: Call, ids: readonly string[] | undefined): Promise<void> {
  if (!ids?.length) return;
  const seen = (await db('libraries')
    .whereIn('libraries.id', ids)
    .modify(onlyVisibleLibraries, who)
    .pluck('id')) as string[];
  const unknown = ids.findIndex((id) => !seen.includes(id));
  if (unknown >= 0) throw invalid(['body', 'libraryIds', unknown], 'unknown_library', 'There is no such library');
}

/** Who saves a webhook whose owner was lost is its owner. */
async function newOwner(call: Call, { owner_lost: lost, expired }: HeldWebhook): Promise<object> {
  return lost || expired ? { owner_id: call.who.accountId, owner_name: await nameOf(call), owner_lost: false } : {};
}

/** For the audit log: no value of what is secret. */
function changesTold({ secret, url, headers, ...told }: WebhookChange): object {
  const named = { ...(url !== undefined && { url: true }), ...(secret !== undefined && { secret: true }) };
  return { ...told, ...named, headers: Object.keys(headers ?? {}) };
}

async function nameOf({ db, who }: Call): Promise<string> {
  const row = await db('accounts').where({ id: who.accountId }).first<{ display_name: string }>('display_name');
  return row.display_name;
}

/** As it is now, with the secret that was just made. */
async function shown({ db, deps, reply }: Call, id: string, secret: string | undefined): Promise<Webhook> {
  const row = await findWebhook(db, id);
  if (!row) throw notFound();
  if (secret !== undefined) reply.header('Cache-Control', 'no-store');
  return { ...toWebhook(deps.keys, row), ...(secret !== undefined && { secret }) };
}
