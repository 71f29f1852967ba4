import { changeChannelItems, emitChannels } from '#areas/libraries/public.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { parseFilter } from '#kernel/filter.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { markStale } from '../schedule/schedule.store.ts';
import { channelFields, filtered } from './channel-filter.ts';
import type { ChannelsChange, Renumber } from './channels.schemas.ts';
import type { ChannelRow } from './channels.store.ts';
import { visibleChannels } from './channels.view.ts';
import { mergeSame } from './merge.ts';
import { Numbers, numberOrder, wholeOf } from './numbers.ts';

const MOST = 50_000;
const MOST_CONFLICTS = 1000;
const MOST_WHOLE = 9999;

interface Conflict {
  id: string;
  number: string;
}

interface Outcome {
  changed: Set<string>;
  merged: number;
  conflicts: Conflict[];
}

/** Changes many channels in one transaction, library by library. Throws 400 for more than 50,000 and for numbers above 9999. */
export async function changeChannels(call: Call, change: ChannelsChange) {
  requireAllowed(call.who, 'liveTv');
  const rows = await selected(call, change);
  const outcome: Outcome = { changed: new Set(), merged: 0, conflicts: [] };
  const byLibrary = [...Map.groupBy(rows, (row) => row.library_id)].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  for (const [libraryId, own] of byLibrary) await changeIn(call.db, { libraryId, rows: own, change, outcome });
  await markStale(call.db);
  return {
    matched: rows.length,
    changed: outcome.changed.size,
    merged: outcome.merged,
    conflicts: outcome.conflicts.slice(0, MOST_CONFLICTS),
  };
}

/** The channels in the order of the ids, or of their numbers. */
async function selected({ db, who }: Call, change: ChannelsChange): Promise<ChannelRow[]> {
  const channels = visibleChannels(db, who, { disabled: true })
    .orderBy(['c.number_order', 'c.id'])
    .limit(MOST + 1);
  const { ids = [], filter } = change;
  if (filter === undefined) channels.whereIn('c.id', ids);
  else channels.modify(filtered(parseFilter(filter, channelFields, { path: ['body', 'filter'] }), who));
  const rows: ChannelRow[] = await channels;
  if (rows.length > MOST) throw invalid(['body', 'filter'], 'too_many', `at most ${MOST} channels`);
  if (filter !== undefined) return rows;
  const place = new Map(ids.map((id, i) => [id, i]));
  return rows.toSorted((one, other) => (place.get(one.id) ?? 0) - (place.get(other.id) ?? 0));
}

interface InLibrary {
  libraryId: string;
  rows: ChannelRow[];
  change: ChannelsChange;
  outcome: Outcome;
}

async function changeIn(db: Db, { libraryId, rows, change, outcome }: InLibrary): Promise<void> {
  await db.raw('select id from libraries where id = ? for no key update', [libraryId]);
  const gone = new Set<string>();
  if (change.merge) {
    const ids = rows.map(({ id }) => id);
    const merged = await mergeSame(db, { libraryId, ids, by: change.merge });
    for (const id of merged.changed) outcome.changed.add(id);
    for (const id of merged.gone) gone.add(id);
    outcome.merged += merged.gone.length;
  }
  const left = rows.filter(({ id }) => !gone.has(id));
  const planned = await plan(db, { libraryId, rows: left, change, outcome });
  await write(db, { libraryId, planned, outcome });
  const changed = left.filter(({ id }) => outcome.changed.has(id)).map(({ id }) => id);
  await emitChannels(db, 'item.updated', { libraryId, ids: changed });
}

/** The rows as they are to be. */
async function plan(db: Db, { libraryId, rows, change, outcome }: InLibrary): Promise<ChannelRow[]> {
  const set = change.set ?? {};
  const locks = Object.entries(set).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const after = rows.map((row): ChannelRow => {
    const { enabled = row.enabled, kind = row.kind, group, ageRating, language } = set;
    return {
      ...{ ...row, enabled, kind },
      group_name: group === undefined ? row.group_name : group,
      age_rating: ageRating === undefined ? row.age_rating : ageRating,
      language: language === undefined ? row.language : language,
      locked_fields: withLocks(row, locks),
    };
  });
  const ids = new Set(rows.map(({ id }) => id));
  const others: { id: string; number: string }[] = await db('live_channels')
    .where({ library_id: libraryId, enabled: true })
    .select('id', 'number');
  const numbers = new Numbers(others.filter(({ id }) => !ids.has(id)).map(({ number }) => number));
  if (change.renumber) return renumbered(after, { ...change.renumber, numbers, outcome });
  return unique(after, rows, { numbers, outcome });
}

const withLocks = (row: ChannelRow, locks: readonly string[]): string[] =>
  [...new Set([...row.locked_fields, ...locks])].sort();

/** Channels that are switched on get a free number where theirs is taken; one whose number is locked stays off. */
function unique(
  after: ChannelRow[],
  before: readonly ChannelRow[],
  { numbers, outcome }: { numbers: Numbers; outcome: Outcome },
): ChannelRow[] {
  const wasOn = new Set(before.filter(({ enabled }) => enabled).map(({ id }) => id));
  for (const row of after) if (row.enabled && wasOn.has(row.id)) numbers.take(row.number);
  return after.map((row) => {
    if (!row.enabled || wasOn.has(row.id) || numbers.take(row.number)) return row;
    const free = row.locked_fields.includes('number') ? undefined : numbers.takeOr(row.number);
    if (free !== undefined) return { ...row, number: free, number_order: numberOrder(free) };
    outcome.conflicts.push({ id: row.id, number: row.number });
    return { ...row, enabled: false };
  });
}

/** Numbers from a start on; those that others have are skipped over and listed. */
function renumbered(
  rows: readonly ChannelRow[],
  { from, step, order, numbers, outcome }: Renumber & { numbers: Numbers; outcome: Outcome },
): ChannelRow[] {
  let next = from;
  return ordered(rows, order).map((row) => {
    for (; !numbers.take(String(next)); next += step) outcome.conflicts.push({ id: row.id, number: String(next) });
    if (next > MOST_WHOLE) throw invalid(['body', 'renumber', 'from'], 'too_big', 'numbers end at 9999');
    const number = String(next);
    next += step;
    return { ...row, number, number_order: numberOrder(number), locked_fields: withLocks(row, ['number']) };
  });
}

function ordered(rows: readonly ChannelRow[], order: Renumber['order']): readonly ChannelRow[] {
  if (order === 'as-given') return rows;
  if (order === 'name') return rows.toSorted((one, other) => one.name.localeCompare(other.name));
  return rows.toSorted((one, other) => one.number_order - other.number_order);
}

const COLUMNS = `number text, number_order int, kind text, group_name text, enabled boolean, age_rating text, language text, locked_fields text[]`;

/** In two steps, because numbers are exchanged. */
async function write(
  db: Db,
  { libraryId, planned, outcome }: { libraryId: string; planned: readonly ChannelRow[]; outcome: Outcome },
): Promise<void> {
  const json = JSON.stringify(planned);
  await db.raw(
    `update live_channels c set number = '~' || c.id from jsonb_to_recordset(?::jsonb) as r(id uuid, number text, enabled boolean)
     where c.id = r.id and c.enabled and (c.number, c.enabled) is distinct from (r.number, r.enabled)`,
    [json],
  );
  const rows = await rowsOf<{ id: string }>(
    db,
    `update live_channels c set number = r.number, number_order = r.number_order, kind = r.kind, group_name = r.group_name,
       enabled = r.enabled, age_rating = r.age_rating, language = r.language, locked_fields = r.locked_fields
     from jsonb_to_recordset(?::jsonb) as r(id uuid, ${COLUMNS}) where c.id = r.id
       and (c.number, c.kind, c.group_name, c.enabled, c.age_rating, c.language, c.locked_fields)
         is distinct from (r.number, r.kind, r.group_name, r.enabled, r.age_rating, r.language, r.locked_fields)
     returning c.id`,
    [json],
  );
  for (const { id } of rows) outcome.changed.add(id);
  const items = planned
    .filter(({ id }) => outcome.changed.has(id))
    .map(({ id, name, number, age_rating: ageRating }) => ({ id, title: name, number: wholeOf(number), ageRating }));
  await changeChannelItems(db, libraryId, items);
}
