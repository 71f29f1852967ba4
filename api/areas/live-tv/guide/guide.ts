// Pages of the guide and lists of programmes, as the caller may see them.
import type { Knex } from 'knex';
import type { LiveChannel } from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid, notFound } from '#kernel/errors.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { parseFilter } from '#kernel/filter.ts';
import { applyRules } from '#kernel/filter-sql.ts';
import { type Page, pageOf, parseSort } from '#kernel/page.ts';
import { iso } from '#kernel/schemas.ts';
import { channelsById } from '../channels/channels.view.ts';
import { programFields, programSorts } from './program-fields.ts';
import type { GuideQuery, GuideRow, LiveProgram, ProgramDetail, ProgramsQuery } from './programs.schemas.ts';
import {
  findInWindow,
  findOtherAirings,
  findProgramRow,
  findShown,
  onlyInWindow,
  onlyShown,
  type ProgramRow,
  selectPrograms,
} from './programs.store.ts';
import { isRestricted, toGuideProgram, toProgram, withLibraryItems } from './programs.view.ts';
import { rowFields, rowSorts } from './row-fields.ts';
import { onlyTitled } from './titles.store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HALF_MS = HOUR_MS / 2;
const MOST_AIRINGS = 20;

interface Window {
  from: Date;
  to: Date;
}

/** The window of a page, cut to half hours. Throws 400 outside of the guide. */
function windowOf(now: Date, query: Pick<GuideQuery, 'from' | 'to'>): Window {
  const from = query.from === undefined ? now : new Date(query.from);
  const to = query.to === undefined ? new Date(from.getTime() + 4 * HOUR_MS) : new Date(query.to);
  const ahead = from.getTime() - now.getTime();
  if (ahead < -2 * DAY_MS || ahead > 21 * DAY_MS)
    throw invalid(['query', 'from'], 'out_of_range', 'from 2 days before to 21 days after now');
  if (to <= from || to.getTime() - from.getTime() > DAY_MS)
    throw invalid(['query', 'to'], 'out_of_range', 'after `from`, and at most 24 hours after it');
  return {
    from: new Date(Math.floor(from.getTime() / HALF_MS) * HALF_MS),
    to: new Date(Math.ceil(to.getTime() / HALF_MS) * HALF_MS),
  };
}

interface GuidePage {
  items: GuideRow[];
  page: Page;
  from: string;
  to: string;
}

/** A page of channels with the programmes of the window; 304 for a client that has it. */
export async function guidePage(call: Call, query: GuideQuery): Promise<GuidePage> {
  const { db, who } = call;
  const window = windowOf(call.now, query);
  const { items: ids, page } = await pageOf<{ id: string }, string>(db, channelRows(call, query), {
    keys: call.deps.keys,
    terms: parseSort(query.sort, rowSorts, 'number'),
    ...{ cursor: query.cursor, limit: query.limit, idColumn: 'c.id' },
    scope: JSON.stringify(['getLiveGuide', who.profileId, query.filter, query.channelIds]),
    toItem: ({ id }) => id,
  });
  const [channels, programs] = await Promise.all([channelsById(call, ids), programsOf(call, ids, window)]);
  const items = ids.flatMap((id) => {
    const channel = channels.get(id);
    return channel ? [{ channel, programs: programs.get(id) ?? [] }] : [];
  });
  return answerUnlessSame(call, { items, page, from: iso(window.from), to: iso(window.to) });
}

function channelRows({ db, who, now }: Call, { filter, channelIds }: GuideQuery): Knex.QueryBuilder {
  const rows = db
    .from('live_channels as c')
    .join('libraries as l', 'l.id', 'c.library_id')
    .joinRaw('left join live_favorites f on f.channel_id = c.id and f.profile_id = ?', [who.profileId])
    .modify(onlyShown, who)
    .select('c.id') as unknown as Knex.QueryBuilder;
  if (channelIds) void rows.whereRaw('c.id = any(?::uuid[])', [channelIds]);
  applyRules(rows, parseFilter(filter, rowFields), { fields: rowFields, context: { who, now } });
  return rows;
}

async function programsOf(
  { db, who }: Call,
  channelIds: readonly string[],
  window: Window,
): Promise<Map<string, GuideRow['programs']>> {
  const shown = await findShown(db, who, { channelIds });
  const keys = [...new Set(shown.map(({ key }) => key))];
  const rows = Map.groupBy(await findInWindow(db, who, { keys, ...window }), ({ channel }) => channel);
  return new Map(
    shown.map(({ key, channelId }) => [
      channelId,
      (rows.get(key) ?? []).map((row) => toGuideProgram(who, row, channelId)),
    ]),
  );
}

/** Programmes by title, time and filter. None above the age limit is found, so that no search reveals one. */
export async function programsPage(call: Call, query: ProgramsQuery): Promise<{ items: LiveProgram[]; page: Page }> {
  const { db, who, deps } = call;
  const { from, to, q, channelId, seriesKey, filter } = query;
  const terms = parseSort(query.sort, programSorts, 'startAt');
  const window = listWindow(call.now, { from, to, isByTime: terms[0]?.name === 'startAt' });
  const shown = await findShown(db, who, channelId === undefined ? {} : { channelIds: [channelId] });
  const channelOf = new Map(shown.toReversed().map(({ key, channelId: id }) => [key, id]));
  const rows = selectPrograms(db, who).whereRaw('p.channel = any(?::bigint[])', [[...channelOf.keys()]]);
  onlyInWindow(rows, window);
  onlyUnrestricted(rows, call);
  if (q !== undefined) await onlyTitled(db, rows, q);
  if (seriesKey !== undefined) void rows.where('p.series_key', seriesKey);
  const rules = parseFilter(filter, programFields);
  applyRules(rows, rules, { fields: programFields, context: { who, now: call.now } });
  const found = await pageOf<ProgramRow, LiveProgram>(db, rows, {
    ...{ keys: deps.keys, terms, cursor: query.cursor, limit: query.limit, idColumn: 'p.id' },
    scope: JSON.stringify(['listLivePrograms', who.profileId, q, from, to, channelId, seriesKey, filter]),
    toItem: (row) => toProgram(who, row, channelOf.get(row.channel) ?? ''),
  });
  return { ...found, items: await withLibraryItems(db, who, found.items) };
}

/** Sorting by anything but time reads the whole window, which is then at most a week. Throws 400. */
function listWindow(
  now: Date,
  { from: given, to: end, isByTime }: { from: string | undefined; to: string | undefined; isByTime: boolean },
): { from: Date; to: Date | undefined } {
  const from = given === undefined ? now : new Date(given);
  const to = end === undefined ? undefined : new Date(end);
  if (to && to <= from) throw invalid(['query', 'to'], 'out_of_range', 'after `from`');
  if (!isByTime && !(to && to.getTime() - from.getTime() <= 7 * DAY_MS))
    throw invalid(['query', 'to'], 'window_too_long', 'another order than startAt needs at most 7 days');
  return { from, to };
}

/** Leaves programmes above the age limit out of a query over `guide_programs as p`. */
export function onlyUnrestricted(query: Knex.QueryBuilder, { who: { sees } }: Pick<Call, 'who'>): void {
  if (sees.hideUnrated) void query.whereNotNull('p.age_years');
  if (sees.ageLimit !== undefined) void query.whereRaw('coalesce(p.age_years, 0) <= ?', [sees.ageLimit]);
}

export interface FoundProgram {
  row: ProgramRow;
  channelId: string;
}

/** A programme on a channel that the caller sees. Throws 404. */
export async function getProgram({ db, who }: Pick<Call, 'db' | 'who'>, id: string): Promise<FoundProgram> {
  const row = await findProgramRow(db, who, id);
  const [shown] = row ? await findShown(db, who, { key: row.channel }) : [];
  if (!row || !shown) throw notFound();
  return { row, channelId: shown.channelId };
}

/** Throws 403 for a programme above the age limit. */
export function refuseRestricted({ who }: Pick<Call, 'who'>, { row }: FoundProgram): void {
  if (isRestricted(who, row)) throw new ApiError('FORBIDDEN', 'The programme is above the age limit', { by: 'age' });
}

export async function programDetail(call: Call, id: string): Promise<ProgramDetail> {
  const { db, who } = call;
  const { row, channelId } = await getProgram(call, id);
  const channel = (await channelsById(call, [channelId])).get(channelId) as LiveChannel;
  const others = isRestricted(who, row) ? [] : await otherAirings(call, row);
  const [program, ...otherPrograms] = await withLibraryItems(db, who, [toProgram(who, row, channelId), ...others]);
  return { program: program as LiveProgram, channel, otherAirings: otherPrograms };
}

/** Programmes by their ids, without those that the caller may not see. */
export async function programsById(
  { db, who }: Pick<Call, 'db' | 'who'>,
  ids: readonly string[],
): Promise<Map<string, LiveProgram>> {
  if (ids.length === 0) return new Map();
  const rows: ProgramRow[] = await selectPrograms(db, who).whereRaw('p.id = any(?::uuid[])', [[...ids]]);
  const channelOf = new Map((await findShown(db, who)).toReversed().map(({ key, channelId }) => [key, channelId]));
  const seen = rows.filter((row) => channelOf.has(row.channel) && !isRestricted(who, row));
  return new Map(seen.map((row) => [row.id, toProgram(who, row, channelOf.get(row.channel) ?? '')]));
}

async function otherAirings({ db, who }: Call, row: ProgramRow): Promise<LiveProgram[]> {
  const shown = await findShown(db, who);
  const channelOf = new Map(shown.toReversed().map(({ key, channelId }) => [key, channelId]));
  const rows = await findOtherAirings(db, who, { row, keys: [...channelOf.keys()], most: MOST_AIRINGS });
  return rows
    .filter((other) => !isRestricted(who, other))
    .map((other) => toProgram(who, other, channelOf.get(other.channel) ?? ''));
}
