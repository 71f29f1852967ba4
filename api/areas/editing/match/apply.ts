import { getVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import {
  dropEdits,
  dropLayers,
  editFields,
  raiseChangesOfItems,
  setLocks,
  settleItems,
} from '#areas/libraries/public.ts';
import { ageSql } from '#identity/visibility.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import { describingIds } from '#platform/agents/agent.ts';
import type { FieldName } from '#platform/item-values.ts';
import { announce } from '../announce.ts';
import { placeOf } from '../edit-item.ts';
import { keptCandidate } from './candidates.ts';
import { readMatch } from './item-match.ts';
import type { ItemMatch, MatchPut } from './match.schemas.ts';
import { identifyingTypes, noteRefreshed, recordMatch, withChildren } from './matches.store.ts';
import { queueItem } from './refresh.ts';
import { findSame } from './same.view.ts';

/** Sets and locks the identity of an item at once; its fields follow by the job. */
export async function applyMatch(call: Call, id: string, body: MatchPut): Promise<ItemMatch> {
  const { db, who } = call;
  const item = await getVisibleItem(db, who, id);
  const chosen = await chosenOf(call, item, body);
  await refuseTaken(call, item, chosen.ids);
  await raiseChangesOfItems(db, [id]);
  const before = await ageOf(call, id);
  if (body.replace === 'all') await clearEdits(call, id);
  const row = await db('items').where({ id }).first('external_ids');
  const others = Object.keys((row?.external_ids ?? {}) as Record<string, string>).filter(
    (name) => !(name in chosen.ids),
  );
  await dropLayers(db, [id], describingIds);
  // Ids of the former identity do not come back from the files; the refresh adds those of the new one.
  const ids = { ...Object.fromEntries(others.map((name) => [name, null])), ...chosen.ids };
  const editor = { accountId: who.accountId || null, lock: true, place: placeOf(call) };
  const fields = new Map<FieldName, unknown>([['externalIds', ids]]);
  await editFields(db, [{ itemId: id, fields }], editor);
  await recordMatch(db, { itemId: id, libraryId: item.libraryId, ...chosen, state: 'matched', by: 'person' });
  await audit(call, 'item.matched', { itemId: id, externalIds: chosen.ids });
  await announce(db, [{ id, changed: ['externalIds'], before }]);
  const options = { mode: 'update', artwork: body.artwork ? 'replace' : 'none', by: 'person' } as const;
  await queueItem(call, item, { children: item.container, options });
  return readMatch(call, item);
}

interface Chosen {
  ids: Record<string, string>;
  agent: string | null;
  confidence: number | null;
}

async function chosenOf({ deps }: Call, { id }: VisibleItem, body: MatchPut): Promise<Chosen> {
  if (body.agent !== undefined && !describingIds.some((id) => id === body.agent))
    throw invalid(['body', 'agent'], 'unknown_agent', 'no such metadata agent');
  if (body.externalIds) return { ids: body.externalIds, agent: body.agent ?? null, confidence: 1 };
  const kept = await keptCandidate(deps.redis, id, body.candidateId ?? '');
  if (!kept) throw notFound();
  return { ids: kept.externalIds, agent: kept.agent, confidence: kept.score };
}

/** 409 when another item of the library is this title, unless the library merges versions. */
async function refuseTaken({ db }: Call, item: VisibleItem, ids: Record<string, string>): Promise<void> {
  if (item.librarySettings['mergeVersions'] !== false) return;
  const [same] = await findSame(db, item, [ids]);
  if (same !== undefined) throw conflict('already-matched', 'Another item has this identity', { itemId: same });
}

async function clearEdits({ db }: Call, id: string): Promise<void> {
  const fields = (await db('item_edits').where({ item_id: id }).pluck('field')) as string[];
  await dropEdits(
    db,
    fields.map((field) => ({ item_id: id, field })),
  );
  await setLocks(db, id, []);
}

async function ageOf({ db }: Call, id: string): Promise<number | null> {
  const row = await db('items')
    .where({ id })
    .first<{ age: number | null }>(db.raw(`${ageSql('items')} as age`));
  return row?.age ?? null;
}

/** Makes an item known by its files alone. A repeat changes nothing. */
export async function clearMatch(call: Call, id: string, keepFields: boolean): Promise<void> {
  const { db, who } = call;
  const item = await getVisibleItem(db, who, id);
  if ((await readMatch(call, item)).state === 'local-only') return;
  await raiseChangesOfItems(db, [id]);
  const before = await ageOf(call, id);
  // children of other containers, such as the albums of an artist, have identities of their own
  const all = identifyingTypes.includes(item.type) ? await withChildren(db, [id]) : [id];
  await dropEdits(db, [{ item_id: id, field: 'externalIds' }]);
  await unlockIds(call, id);
  if (!keepFields) await dropLayers(db, all, describingIds);
  const changed = await settleItems(db, all, { place: placeOf(call) });
  if (keepFields) await forgetIds(call, id);
  for (const itemId of all) {
    await recordMatch(db, {
      ...{ itemId, libraryId: item.libraryId, state: 'local-only', agent: null, confidence: null, by: 'person' },
    });
    if (!keepFields) await noteRefreshed(db, { itemId, libraryId: item.libraryId }, []);
  }
  await audit(call, 'item.unmatched', { itemId: id });
  await announce(
    db,
    changed.map((one) => ({ id: one.id, changed: one.changed, ...(one.id === id && { before }) })),
  );
}

async function unlockIds({ db }: Call, id: string): Promise<void> {
  const row = await db('items').where({ id }).first('locked_fields');
  const locked = row?.locked_fields ?? [];
  if (locked.includes('externalIds'))
    await setLocks(
      db,
      id,
      locked.filter((name) => name !== 'externalIds'),
    );
}

/** With kept fields the layers stay, but not the ids in them. */
async function forgetIds(call: Call, id: string): Promise<void> {
  const { db, who } = call;
  const row = await db('items').where({ id }).first('external_ids');
  const none = Object.fromEntries(Object.keys((row?.external_ids ?? {}) as object).map((name) => [name, null]));
  const editor = { accountId: who.accountId || null, lock: false, place: placeOf(call) };
  await editFields(db, [{ itemId: id, fields: new Map<FieldName, unknown>([['externalIds', none]]) }], editor);
}
