// Writes what agents gave of items.
import { isDeepStrictEqual } from 'node:util';
import { placeAllInSeries } from '#areas/collections/public.ts';
import {
  type ChosenPicture,
  type Due,
  endRefreshes,
  findMatches,
  identifyingTypes,
  type MatchRow,
  makeChildrenDue,
  type Outcome,
} from '#areas/editing/public.ts';
import {
  dropLayers,
  editFields,
  lockLibraries,
  nextChanges,
  placeOf,
  putLayers,
  type RefreshedItem,
  type Settled,
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
}

/** A refresh with the identity that its item has. */
type Known = Refresh & { before: MatchRow | undefined };

/**
 * Writes refreshes in one transaction, because statements, triggers and search documents cost less for many items than
 * for each. Returns how many events it emitted, at most `events`.
 */
export async function writeRefreshes(work: Work, refreshes: readonly Refresh[], events: number): Promise<number> {
  return work.db.transaction(async (db) => {
    await lockLibraries(db, [...new Set(refreshes.map(({ item }) => item.libraryId))]);
    const matches = await findMatches(
      db,
      refreshes.map(({ item }) => item.id),
    );
    const known = refreshes.map((one): Known => ({ ...one, before: matches.get(one.item.id) }));
    const { settled, emitted } = await writeValues(work, db, { refreshes: known, events });
    for (const one of known) if (one.before?.matched_by === 'person') await completeIdentity(work, db, one);
    await writeOutcomes(work, db, known);
    await placeAllInSeries(
      db,
      known.flatMap(({ item, gathered }) => gathered.series.map((one) => ({ itemId: item.id, ...one }))),
    );
    const renamed = new Set(settled.flatMap(({ id, changed }) => (changed.includes('externalIds') ? [id] : [])));
    for (const { item, due } of known)
      if (renamed.has(item.id) && identifyingTypes.includes(item.type)) await makeChildrenDue(db, item.id, due.options);
    return emitted;
  });
}

const modeOf = ({ due }: Refresh): SettleMode => due.options.mode ?? 'settle';

interface Values {
  refreshes: readonly Refresh[];
  events: number;
}

/** Returns the items that changed, and the number of events. */
async function writeValues(
  work: Work,
  db: Db,
  { refreshes, events }: Values,
): Promise<{ settled: Settled[]; emitted: number }> {
  const written = refreshes.filter((one) => one.gathered.layers.length > 0 || modeOf(one) !== 'settle');
  const ages = await agesOf(
    db,
    written.map(({ item }) => item.id),
  );
  await nextChanges(
    db,
    written.map(({ item }) => item.libraryId),
  );
  for (const { item, due, gathered } of written)
    if (due.options.identify === true && gathered.layers.length > 0) await dropLayers(db, [item.id], without(gathered));
  await putLayers(
    db,
    written.map(({ item, gathered }) => ({ itemId: item.id, layers: gathered.layers })),
  );
  const settled: Settled[] = [];
  for (const [mode, some] of Map.groupBy(written, modeOf)) {
    const ids = some.map(({ item }) => item.id);
    settled.push(...(await settleItems(db, ids, { place: placeOf(work.settings), mode })));
  }
  await writeChildren(db, written);
  const shown = settled.filter(({ changed }) => changed.length > 0).slice(0, events);
  for (const [id, some] of Map.groupBy(shown, ({ libraryId }) => libraryId)) {
    const changed = new Map(some.map((one) => [one.id, one.changed]));
    await emitItems({ library: { id } }, db, { name: 'item.updated', ids: [...changed.keys()], changed, ages });
  }
  return { settled, emitted: shown.length };
}

async function writeChildren(db: Db, refreshes: readonly Refresh[]): Promise<void> {
  for (const { item, gathered } of refreshes) {
    if (!gathered.children) continue;
    await db.raw(`update items set details = details || jsonb_build_object('knownChildren', ?::jsonb) where id = ?`, [
      JSON.stringify(gathered.children),
      item.id,
    ]);
  }
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

/** Writes the identities that are new and the pictures to take, and ends the refreshes. */
async function writeOutcomes(work: Work, db: Db, refreshes: readonly Known[]): Promise<void> {
  const outcomes = refreshes.map((one): Outcome & Known => ({
    ...one,
    failed: one.gathered.failed,
    pictures: picturesOf(one),
    found: newIdentity(one),
  }));
  await endRefreshes(db, outcomes);
  const matched = refreshes.filter(({ item, gathered }) => gathered.match || item.byContainer);
  await db('items')
    .whereIn(
      'id',
      matched.map(({ item }) => item.id),
    )
    .where({ matched: false })
    .update({ matched: true });
  const pictured = outcomes.filter(
    ({ pictures, before }) => pictures && !isDeepStrictEqual(pictures, before?.pictures ?? []),
  );
  for (const [libraryId, some] of Map.groupBy(pictured, ({ item }) => item.libraryId))
    await queuePictures(work, db, { libraryId, itemIds: some.map(({ item }) => item.id) });
}

/** Items that are found by their container have no identity of their own; one that a person chose stays. */
function newIdentity({ item, due, gathered: { match }, before }: Known): Outcome['found'] {
  if (!match || item.byContainer || isKnown(before, match.agent)) return undefined;
  return { ...match, by: due.options.by === 'scan' ? 'scan' : 'refresh' };
}

const isKnown = (before: MatchRow | undefined, agent: string): boolean =>
  before?.state === 'matched' && (before.matched_by === 'person' || before.agent === agent);

/** The pictures to take; undefined when they stay as they are. */
function picturesOf({ item, due, gathered, before }: Known): ChosenPicture[] | undefined {
  if (due.options.artwork === 'none') return undefined;
  const original = gathered.layers.map(({ values }) => values.originalLanguage).find((one) => one !== undefined);
  const silent = new Set(gathered.failed);
  const isPartial = due.options.agents !== undefined || silent.size > 0;
  const old: readonly ChosenPicture[] = isPartial ? (before?.pictures ?? []) : [];
  const kept = old.filter(({ agent }) => silent.has(agent) || !due.options.agents?.includes(agent));
  return merged(choosePictures(item, gathered.pictures, original), kept);
}

const merged = (chosen: readonly ChosenPicture[], kept: readonly ChosenPicture[]): ChosenPicture[] => {
  const urls = new Set(chosen.map(({ url }) => url));
  return [...kept.filter(({ url }) => !urls.has(url)), ...chosen];
};
