import { itemsMatching } from '#areas/items/public.ts';
import { labelNumbers } from '#areas/labels/public.ts';
import { librariesOf } from '#areas/libraries/public.ts';
import { visibleItemIds } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, type Issue, invalidAll } from '#kernel/errors.ts';
import { refuseMovers } from '../delete-item.ts';
import { placeOf } from '../edit-item.ts';
import { RefreshPost } from '../match/match.schemas.ts';
import { makeDue, withChildren } from '../match/matches.store.ts';
import type { BulkRequest, BulkResult } from './bulk.schemas.ts';
import { keepChange } from './bulk.store.ts';
import { type Change, changeSome, type Outcome } from './step.ts';

/** Before the refreshes of scans. */
const PRIORITY = 20;
/** More items are changed by a job. */
const AT_ONCE = 200;
const BATCH = 500;
const MOST_REFUSED = 200;
/** Events of one request. */
const EVENTS = 100;
const UNDO_MS = 24 * 60 * 60 * 1000;

/** Changes the items of a request, or queues a job for more than 200. */
export async function changeInBulk(call: Call, request: BulkRequest): Promise<BulkResult> {
  refuseUnfit(request);
  refuseMovers(call.who, request.delete);
  const ids = [...new Set(await idsOf(call, request))];
  refuseOther(request.expect, await matchedOf(call, request, ids));
  if (request.action === 'refresh') return refreshMany(call, request, ids);
  const change = await changeOf(call, { ...request, action: request.action }, ids);
  if (!request.dryRun && ids.length > AT_ONCE) return later(call, change, ids);
  const { changed, refused } = await changeAll(call, ids, { change, dryRun: request.dryRun });
  return {
    dryRun: request.dryRun,
    matched: ids.length,
    changed,
    unchanged: ids.length - changed - refused.length,
    refused: refused.slice(0, MOST_REFUSED),
    ...(!request.dryRun && request.action === 'edit' && changed > 0 && undoable(call)),
  };
}

const undoable = ({ now }: Call): { undoUntil: string } => ({
  undoUntil: new Date(now.getTime() + UNDO_MS).toISOString(),
});

/** Makes items due for the refresh job of their library. */
async function refreshMany(call: Call, { refresh, dryRun }: BulkRequest, ids: readonly string[]): Promise<BulkResult> {
  const { db, who, enqueue, reply } = call;
  const visible = new Set(await visibleItemIds(db, who, ids));
  const hidden = ids.filter((id) => !visible.has(id)).map((itemId) => ({ itemId, reason: 'not-found' as const }));
  const counts = { dryRun, matched: ids.length, refused: hidden.slice(0, MOST_REFUSED), unchanged: 0 };
  if (dryRun) return { ...counts, changed: visible.size };
  const { children, agents, ...options } = RefreshPost.parse(refresh ?? {});
  const due = children ? await withChildren(db, [...visible]) : [...visible];
  await makeDue(db, due, { ...options, ...(agents && { agents }), by: 'person' });
  const jobIds: string[] = [];
  for (const libraryId of await librariesOf(db, [...visible])) {
    const target = { kind: 'library', id: libraryId };
    jobIds.push(await enqueue('metadata.refresh', { libraryId }, { libraryId, target, priority: PRIORITY }));
  }
  reply.status(202);
  return { ...counts, changed: 0, ...(jobIds[0] !== undefined && { jobId: jobIds[0] }) };
}

async function changeAll(
  call: Call,
  ids: readonly string[],
  { change, dryRun }: { change: Change; dryRun: boolean },
): Promise<Outcome> {
  const all: Outcome = { changed: 0, refused: [] };
  for (let at = 0; at < ids.length; at += BATCH) {
    const by = { who: call.who, place: placeOf(call), events: EVENTS, change, dryRun, enqueue: call.enqueue };
    const { changed, refused } = await changeSome(call.db, ids.slice(at, at + BATCH), by);
    all.changed += changed;
    all.refused.push(...refused);
  }
  return all;
}

async function later(call: Call, change: Change, ids: readonly string[]): Promise<BulkResult> {
  const { db, who, enqueue, reply } = call;
  const changeId = await keepChange(db, { accountId: who.accountId, change, ids });
  const jobId = await enqueue('items.bulk', { changeId }, { target: { kind: 'bulk', id: changeId } });
  reply.status(202);
  return { dryRun: false, matched: ids.length, changed: 0, unchanged: 0, refused: [], jobId };
}

type Rule = readonly [path: string, code: string, message: string, broken: (request: BulkRequest) => boolean];

const changesLists = ({ set, add, remove }: BulkRequest): boolean => (set ?? add ?? remove) !== undefined;
const changesLocks = ({ action }: BulkRequest): boolean => action === 'lock' || action === 'unlock';
const LISTS = ['genres', 'tags', 'labels'] as const;

/** Members that do not belong together. */
const RULES: readonly Rule[] = [
  ['itemIds', 'exactly_one', 'either itemIds or filter', ({ itemIds, filter }) => !itemIds === !filter],
  ['set', 'one_of', 'an edit has set, add or remove', (one) => one.action === 'edit' && !changesLists(one)],
  ['set', 'not_of_action', 'only an edit has them', (one) => one.action !== 'edit' && changesLists(one)],
  ['refresh', 'not_of_action', 'only a refresh has it', (one) => one.action !== 'refresh' && one.refresh !== undefined],
  ['fields', 'not_of_action', 'only lock and unlock have fields', (one) => changesLocks(one) === !one.fields],
  ['delete', 'not_of_action', 'only a deletion has it', (one) => one.action !== 'delete' && one.delete !== undefined],
  ...LISTS.map(
    (name): Rule => [
      'add',
      'exclusive',
      `either set or change ${name}`,
      ({ set, add, remove }) => set?.[name] !== undefined && Boolean(add?.[name] ?? remove?.[name]),
    ],
  ),
];

function refuseUnfit(request: BulkRequest): void {
  const broken = RULES.filter(([, , , isBroken]) => isBroken(request));
  if (broken.length === 0) return;
  throw invalidAll(broken.map(([path, code, message]): Issue => ({ path: ['body', path], code, message })));
}

async function idsOf(call: Call, { itemIds, filter }: BulkRequest): Promise<string[]> {
  if (!filter) return itemIds ?? [];
  const typed =
    filter.type === undefined ? filter.filter : [`type:in:${filter.type}`, filter.filter].filter(Boolean).join(';');
  const { query } = await itemsMatching(call, filter.libraryId, typed);
  return (await query.orderBy('i.id').pluck('i.id')) as string[];
}

async function matchedOf({ db, who }: Call, { filter }: BulkRequest, ids: readonly string[]): Promise<number> {
  return filter ? ids.length : (await visibleItemIds(db, who, ids)).length;
}

/** A filter cannot reach more items than its author saw. */
function refuseOther(expected: number | undefined, matched: number): void {
  if (expected === undefined || Math.abs(matched - expected) <= expected / 100) return;
  throw conflict('count-differs', 'The number of items has changed', { matched, expected });
}

async function changeOf(
  call: Call,
  request: BulkRequest & { action: Change['action'] },
  ids: readonly string[],
): Promise<Change> {
  const { action, set, fields, add = {}, remove = {}, delete: deleting } = request;
  const { labels: addLabels = [], ...adding } = add;
  const { labels: removeLabels = [], ...removing } = remove;
  const labels = await labelNumbers(call, { add: addLabels, remove: removeLabels, set: set?.labels, itemIds: ids });
  const { labels: _set, ...plain } = set ?? {};
  return {
    ...{ action, add: adding, remove: removing, labels },
    ...(set && { set: plain }),
    ...(fields && { fields }),
    ...(deleting && { delete: deleting }),
  };
}
