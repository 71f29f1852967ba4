import type { Knex } from 'knex';
import { findItemSummaries } from '#areas/items/public.ts';
import { may, requirePermission } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Page, pageOf, parseSort } from '#kernel/page.ts';
import { iso } from '#kernel/schemas.ts';
import type { Row } from '#platform/typed-query.ts';
import { knownPerson, zoneOf } from '../persons.ts';
import { type Span, spanOf } from '../span.ts';
import type { HistoryEntry, HistoryQuery } from '../stats.schemas.ts';
import { historySort } from './history.sort.ts';

const ADDRESS_DAYS = 30;

export type PlayRow = Row<'plays'> & { display_name: string; profile_name: string };

const COLUMNS = [
  ...[
    'id',
    'profile_id',
    'account_id',
    'item_id',
    'library_id',
    'title',
    'parent_title',
    'type',
    'started_at',
    'ended_at',
  ],
  ...[
    'played_ms',
    'from_ms',
    'to_ms',
    'duration_ms',
    'completed',
    'method',
    'reasons',
    'quality',
    'client',
    'platform',
  ],
  ...['is_remote', 'address', 'bytes', 'source', 'session_id'],
].map((name) => `p.${name}`);

type Days = Pick<Span, 'start' | 'end'>;

async function daysOf(call: Call, query: HistoryQuery): Promise<Days | undefined> {
  if (query.from === undefined && query.to === undefined) return undefined;
  return spanOf(call.db, query, zoneOf(call, 'mine'));
}

/** Entries that the caller may see: of known persons, about items that are visible or gone. */
function selectHistory(call: Call, query: HistoryQuery, days: Days | undefined): Knex.QueryBuilder {
  const { db, who } = call;
  const known = knownPerson(call);
  const visible = db
    .queryBuilder()
    .select(db.raw('1'))
    .from('items as v')
    .whereRaw('v.id = i.id')
    .modify(onlyVisibleItems, who, 'v');
  const list = db
    .queryBuilder()
    .from('plays as p')
    .join('profiles as pr', 'pr.id', 'p.profile_id')
    .join('accounts as a', 'a.id', 'pr.account_id')
    .leftJoin('items as i', 'i.id', 'p.item_id')
    .whereRaw(known.sql, known.bindings as Knex.RawBinding[])
    .whereRaw('case when i.id is null then true else exists (?) end', [visible]); // the planner walks the index for a case
  ofPerson(call, list, query);
  if (days) list.where('p.started_at', '>=', days.start).where('p.started_at', '<', days.end);
  ofItem(list, query);
  return list;
}

/** Throws 403 for other people without `session:manage`. */
function ofPerson({ who }: Call, list: Knex.QueryBuilder, { userId, profileId }: HistoryQuery): void {
  const isOwn = userId === 'me' || userId === who.accountId;
  if (!isOwn || (profileId !== undefined && profileId !== who.profileId)) requirePermission(who, 'session:manage');
  if (userId !== 'all') list.where('a.id', isOwn ? who.accountId : userId);
  if (profileId !== undefined) list.where('pr.id', profileId);
  else if (isOwn) list.where('pr.id', who.profileId);
}

function ofItem(list: Knex.QueryBuilder, { libraryId, itemId, type, method, completed, q }: HistoryQuery): void {
  if (libraryId) list.where('p.library_id', libraryId);
  if (itemId)
    list.whereRaw(
      '(p.item_id = ? or p.item_id in (select d.id from items d where d.parent_id = ? or d.grandparent_id = ?))',
      [...[itemId, itemId, itemId]],
    );
  if (type) list.where('p.type', type);
  if (method) list.where('p.method', method);
  if (completed !== undefined) list.where('p.completed', completed);
  if (q) list.whereRaw('position(foyer_fold(?) in foyer_fold(p.title)) > 0', [q]);
}

const selectColumns = (list: Knex.QueryBuilder): Knex.QueryBuilder =>
  list.select(COLUMNS).select('a.display_name as display_name', 'pr.name as profile_name');

export async function pageOfHistory(call: Call, query: HistoryQuery): Promise<{ items: HistoryEntry[]; page: Page }> {
  const { db, deps, who } = call;
  const { cursor, limit, sort, ...wanted } = query;
  const list = selectColumns(selectHistory(call, query, await daysOf(call, query)));
  const { items: rows, page } = await pageOf<PlayRow, PlayRow>(db, list, {
    keys: deps.keys,
    terms: parseSort(sort, historySort, '-startedAt'),
    cursor,
    limit,
    scope: JSON.stringify(['listHistory', wanted, who.profileId]),
    idColumn: 'p.id',
    toItem: (row) => row,
  });
  return { items: await toEntries(call, rows), page };
}

async function toEntries({ db, who, now }: Call, rows: readonly PlayRow[]): Promise<HistoryEntry[]> {
  const summaries = await findItemSummaries(db, who, [...new Set(rows.map((row) => row.item_id))]);
  const addressed = may(who, 'session:manage') ? now.getTime() - ADDRESS_DAYS * 86_400_000 : Number.POSITIVE_INFINITY;
  return rows.map((row) => {
    const item = summaries.get(row.item_id);
    return {
      ...(item && { item }),
      ...plain(row),
      ...(row.address !== null && row.started_at.getTime() >= addressed && { address: row.address }),
    };
  });
}

function plain(row: PlayRow): HistoryEntry {
  const optional = {
    parentTitle: row.parent_title,
    durationMs: row.duration_ms,
    quality: row.quality,
    bytes: row.bytes,
    sessionId: row.session_id,
  };
  return {
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null)) as Partial<HistoryEntry>),
    id: row.id,
    title: row.title,
    type: row.type,
    libraryId: row.library_id,
    userId: row.account_id,
    displayName: row.display_name,
    profileId: row.profile_id,
    profileName: row.profile_name,
    startedAt: iso(row.started_at),
    endedAt: iso(row.ended_at),
    playedMs: row.played_ms,
    fromMs: row.from_ms,
    toMs: row.to_ms,
    completed: row.completed,
    method: row.method,
    reasons: row.reasons,
    client: { name: row.client, ...(row.platform !== null && { platform: row.platform }) },
    isRemote: row.is_remote,
    source: row.source,
  };
}

const MOST_ROWS = 100_000;
const CSV_COLUMNS = [
  ...([
    'startedAt',
    'endedAt',
    'title',
    'parentTitle',
    'type',
    'displayName',
    'profileName',
    'playedMs',
    'durationMs',
  ] as const),
  ...(['completed', 'method', 'isRemote'] as const),
];

/** A cell that a spreadsheet takes as text, also when it looks like a formula. */
function cell(value: string | number | boolean | undefined = ''): string {
  const text = String(value);
  const plainText = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(plainText) ? `"${plainText.replaceAll('"', '""')}"` : plainText;
}

/** The same rows as CSV, at most 100,000. */
export async function historyCsv(call: Call, query: HistoryQuery): Promise<string> {
  const list = selectColumns(selectHistory(call, query, await daysOf(call, query)));
  for (const { column, descending } of parseSort(query.sort, historySort, '-startedAt'))
    list.orderByRaw(`${column} ${descending ? 'desc' : 'asc'}`);
  const rows = (await list.limit(MOST_ROWS)) as PlayRow[];
  const lines = rows.map((row) => {
    const entry = plain(row);
    return [...CSV_COLUMNS.map((name) => cell(entry[name])), cell(row.client)].join(',');
  });
  return [[...CSV_COLUMNS, 'client'].join(','), ...lines, ''].join('\r\n');
}
