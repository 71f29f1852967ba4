// Writes what agents gave of one item.
import { placeInSeries } from '#areas/collections/public.ts';
import {
  type ChosenPicture,
  type Due,
  endRefresh,
  findMatch,
  identifyingTypes,
  type MatchRow,
  makeChildrenDue,
  noteRefreshed,
  recordMatch,
} from '#areas/editing/public.ts';
import {
  dropLayers,
  editFields,
  nextChanges,
  placeOf,
  putLayers,
  type RefreshedItem,
  type SettleMode,
  settleItems,
} from '#areas/libraries/public.ts';
import { describingIds } from '#platform/agents/agent.ts';
import type { Db } from '#platform/db.ts';
import type { FieldName } from '#platform/item-values.ts';
import { queuePictures } from '../artwork/queue.ts';
import { agesOf, emitItems } from '../scan/engine/item-events.ts';
import type { Work } from '../work.ts';
import type { Gathered } from './gather.ts';
import { choosePictures } from './pictures.ts';

export interface Refresh {
  item: RefreshedItem;
  due: Due;
  gathered: Gathered;
  /** Whether an event may be emitted. */
  mayEmit: () => boolean;
}

/** One transaction, under a lock of the item. */
export async function writeRefresh(work: Work, refresh: Refresh): Promise<void> {
  await work.db.transaction(async (db) => {
    await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 12))', [refresh.item.id]);
    const before = await findMatch(db, refresh.item.id);
    const changed = await writeValues(work, db, refresh);
    if (before?.matched_by === 'person') await completeIdentity(work, db, refresh);
    await writeIdentity(db, refresh, before);
    await writePictures(work, db, { ...refresh, before });
    for (const { agent, series } of refresh.gathered.series)
      await placeInSeries(db, { itemId: refresh.item.id, agent, series });
    await endRefresh(db, refresh.due, refresh.gathered.failed);
    if (changed.includes('externalIds') && identifyingTypes.includes(refresh.item.type))
      await makeChildrenDue(db, refresh.item.id, refresh.due.options);
  });
}

/** Returns the names of the fields that changed. */
async function writeValues(work: Work, db: Db, { item, due, gathered, mayEmit }: Refresh): Promise<string[]> {
  const { id, libraryId } = item;
  const mode: SettleMode = due.options.mode ?? 'settle';
  const isOther = due.options.identify === true && gathered.layers.length > 0;
  if (gathered.layers.length === 0 && mode === 'settle') return [];
  const ages = await agesOf(db, [id]);
  await nextChanges(db, [libraryId]);
  if (isOther) await dropLayers(db, [id], without(gathered));
  await putLayers(db, [{ itemId: id, layers: gathered.layers }]);
  const [settled] = await settleItems(db, [id], { place: placeOf(work.settings), mode });
  const changed = settled?.changed ?? [];
  await writeChildren(db, id, gathered);
  if (changed.length > 0 && mayEmit())
    await emitItems({ work, library: { id: libraryId } }, db, { name: 'item.updated', ids: [id], changed, ages });
  return changed;
}

async function writeChildren(db: Db, id: string, { children }: Gathered): Promise<void> {
  if (!children) return;
  const known = JSON.stringify(children);
  await db.raw(`update items set details = details || jsonb_build_object('knownChildren', ?::jsonb) where id = ?`, [
    known,
    id,
  ]);
}

/** The identity that a person chose is locked, so the ids that agents add to it are written as a part of it. */
async function completeIdentity(work: Work, db: Db, { item, gathered }: Refresh): Promise<void> {
  const edit = await db('item_edits').where({ item_id: item.id, field: 'externalIds' }).first('value', 'account_id');
  if (!edit) return;
  const value = edit.value as Record<string, string | null>;
  const more = Object.entries(gathered.ids).filter(([provider]) => (value[provider] ?? null) === null);
  if (more.length === 0) return;
  const fields = new Map<FieldName, unknown>([['externalIds', { ...value, ...Object.fromEntries(more) }]]);
  const editor = { accountId: edit.account_id, lock: true, place: placeOf(work.settings) };
  await editFields(db, [{ itemId: item.id, fields }], editor);
}

/** Agents of the former identity, except those that did not answer. */
const without = ({ layers, failed }: Gathered): string[] => {
  const kept = new Set([
    ...failed,
    ...layers.map(({ source }) => (typeof source === 'string' ? source : source.agent)),
  ]);
  return describingIds.filter((id) => !kept.has(id));
};

/** Items that are found by their container have no identity of their own. */
async function writeIdentity(db: Db, { item, due, gathered }: Refresh, before: MatchRow | undefined): Promise<void> {
  const { match } = gathered;
  if (match && !item.byContainer && !isKnown(before, match.agent))
    await recordMatch(db, {
      ...{ itemId: item.id, libraryId: item.libraryId, state: 'matched', ...match },
      by: due.options.by === 'scan' ? 'scan' : 'refresh',
    });
  if (match || item.byContainer) await db('items').where({ id: item.id, matched: false }).update({ matched: true });
}

/** An identity that a person chose stays. */
const isKnown = (before: MatchRow | undefined, agent: string): boolean =>
  before?.state === 'matched' && (before.matched_by === 'person' || before.agent === agent);

type Pictured = Refresh & { before: MatchRow | undefined };

async function writePictures(work: Work, db: Db, { item, due, gathered, before }: Pictured): Promise<void> {
  const place = { itemId: item.id, libraryId: item.libraryId };
  const original = gathered.layers.map(({ values }) => values.originalLanguage).find((one) => one !== undefined);
  const chosen = due.options.artwork === 'none' ? undefined : choosePictures(item, gathered.pictures, original);
  const old: readonly ChosenPicture[] = before?.pictures ?? [];
  const silent = new Set(gathered.failed);
  const isPartial = due.options.agents !== undefined || silent.size > 0;
  const kept = isPartial ? old.filter(({ agent }) => silent.has(agent) || !due.options.agents?.includes(agent)) : [];
  const pictures = chosen && merged(chosen, kept);
  await noteRefreshed(db, place, pictures);
  if (pictures && JSON.stringify(pictures) !== JSON.stringify(old))
    await queuePictures(work, db, { libraryId: item.libraryId, itemIds: [item.id] });
}

const merged = (chosen: readonly ChosenPicture[], kept: readonly ChosenPicture[]): ChosenPicture[] => {
  const urls = new Set(chosen.map(({ url }) => url));
  return [...kept.filter(({ url }) => !urls.has(url)), ...chosen];
};
