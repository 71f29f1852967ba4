import type { Knex } from 'knex';
import { z } from 'zod';
import { may, type Principal } from '#kernel/principal.ts';
import { ImageRef, iso } from '#kernel/schemas.ts';
import { onlyVisibleItems } from '#kernel/visibility.ts';
import type { Db } from '#platform/db.ts';
import { AirsBefore, type ItemSummary, summaryDetails, type UserState } from './items.schemas.ts';
import { containersSql, isContainer, resolutionOf } from './kinds.ts';

/** A row of `items as i` with the caller's state `s`, its parents' titles and the rollups of a list entry. */
export interface SummaryRow {
  id: string;
  library_id: string;
  type: string;
  title: string;
  sort_title: string;
  original_title: string | null;
  year: number | null;
  released_on: string | null;
  parent_id: string | null;
  parent_title: string | null;
  grandparent_id: string | null;
  grandparent_title: string | null;
  index_number: number | null;
  index_end: number | null;
  parent_index: number | null;
  airs_before: unknown;
  added_at: Date;
  runtime_ms: number | null;
  age_rating: string | null;
  rating: number | null;
  artwork: Record<string, unknown>;
  details: Record<string, unknown>;
  availability: 'missing' | 'unavailable' | null;
  height: number | null;
  hdr: string | null;
  file_count: number;
  edition_count: number | null;
  taken_at: Date | null;
  matched: boolean;
  locked_fields: string[];
  watched: boolean | null;
  progress: number | null;
  position_ms: number | null;
  play_count: number | null;
  last_played_at: Date | null;
  own_rating: number | null;
  favorite: boolean | null;
  reading: { position?: string } | null;
}

const ITEM_COLUMNS = [
  'id',
  'library_id',
  'type',
  'title',
  'sort_title',
  'original_title',
  'year',
  'parent_id',
  'grandparent_id',
  'index_number',
  'index_end',
  'parent_index',
  'airs_before',
  'added_at',
  'runtime_ms',
  'age_rating',
  'rating',
  'artwork',
  'details',
  'height',
  'hdr',
  'file_count',
  'taken_at',
  'matched',
  'locked_fields',
].map((name) => `i.${name}`);

const COMPUTED = `i.released_on::text as released_on,
  p.title as parent_title, g.title as grandparent_title,
  case when i.file_count > 1 then (select count(distinct coalesce(f.edition, ''))::int from media_files f
    where f.item_id = i.id and not f.ignored) end as edition_count,
  case when i.availability = 'missing' then 'missing'
    when i.file_count > 0 and not exists (select 1 from media_files f join storages st on st.id = f.storage_id
      where f.item_id = i.id and f.missing_since is null and st.state in ('available', 'suspect')) then 'unavailable'
    end as availability,
  s.watched, s.progress, s.position_ms, s.play_count, s.last_played_at, s.rating as own_rating, s.favorite, s.reading`;

/** Start of every read of items: only what `who` may see, with the profile's own state as `s`. */
export function visibleItems(db: Db, who: Principal): Knex.QueryBuilder {
  return db
    .from('items as i')
    .joinRaw('left join item_states s on s.item_id = i.id and s.profile_id = ?', [who.profileId || null])
    .modify(onlyVisibleItems, who, 'i');
}

/** `visibleItems` with everything that `toSummary` reads. */
export function summaryRows(db: Db, who: Principal, from = visibleItems(db, who)): Knex.QueryBuilder {
  return from
    .leftJoin('items as p', 'p.id', 'i.parent_id')
    .leftJoin('items as g', 'g.id', 'i.grandparent_id')
    .select(ITEM_COLUMNS)
    .select(db.raw(COMPUTED));
}

/** What a container holds, of what the caller may see. */
export interface Content {
  children: number;
  leaves: number;
  unwatched: number;
}

/** Contents of those ids that are containers, in one query. */
export async function findContents(db: Db, who: Principal, ids: readonly string[]): Promise<Map<string, Content>> {
  if (ids.length === 0) return new Map();
  const inside = visibleItems(db, who)
    .whereNull('i.extra_of')
    .whereRaw('(i.parent_id = any(?::uuid[]) or i.grandparent_id = any(?::uuid[]))', [[...ids], [...ids]])
    .select('i.id', 'i.parent_id', 'i.grandparent_id')
    .select(db.raw(`coalesce(s.watched, false) as watched, i.type <> all(${containersSql}) as leaf`));
  const placed = `select parent_id as id, true as child, leaf, watched from inside
    union all select grandparent_id, false, leaf, watched from inside where grandparent_id is not null`;
  const rows = await db
    .with('inside', inside)
    .select<(Content & { id: string })[]>(
      db.raw(`id, count(*) filter (where child)::int as children, count(*) filter (where leaf)::int as leaves,
        count(*) filter (where leaf and not watched)::int as unwatched`),
    )
    .from(db.raw(`(${placed}) as placed`))
    .whereRaw('id = any(?::uuid[])', [[...ids]])
    .groupBy('id');
  return new Map(rows.map((row) => [row.id, row]));
}

/** Summaries of those of `ids` that the caller may see; what is hidden is not in the map. */
export async function findItemSummaries(
  db: Db,
  who: Principal,
  ids: readonly string[],
): Promise<Map<string, ItemSummary>> {
  if (ids.length === 0) return new Map();
  const rows: SummaryRow[] = await summaryRows(db, who).whereRaw('i.id = any(?::uuid[])', [[...ids]]);
  return new Map((await toSummaries(db, who, rows)).map((item) => [item.id, item]));
}

/** Summaries in the order of `ids`. */
export async function listSummaries(db: Db, who: Principal, ids: readonly string[]): Promise<ItemSummary[]> {
  const found = await findItemSummaries(db, who, ids);
  return ids.flatMap((id) => found.get(id) ?? []);
}

export async function toSummaries(db: Db, who: Principal, rows: readonly SummaryRow[]): Promise<ItemSummary[]> {
  const containers = rows.filter((row) => isContainer(row.type)).map((row) => row.id);
  const contents = await findContents(db, who, containers);
  const empty = { children: 0, leaves: 0, unwatched: 0 };
  return rows.map((row) => toSummary(row, who, isContainer(row.type) ? (contents.get(row.id) ?? empty) : undefined));
}

/** One row as a list shows it; `content` of a container. */
export function toSummary(row: SummaryRow, who: Principal, content: Content | undefined): ItemSummary {
  return withoutNull({
    id: row.id,
    libraryId: row.library_id,
    type: row.type,
    title: row.title,
    sortTitle: row.sort_title,
    originalTitle: row.original_title,
    year: row.year,
    releasedOn: row.released_on,
    parentId: row.parent_id,
    parentTitle: row.parent_title,
    grandparentId: row.grandparent_id,
    grandparentTitle: row.grandparent_title,
    index: row.index_number,
    indexEnd: row.index_end,
    parentIndex: row.parent_index,
    airsBefore: AirsBefore.safeParse(row.airs_before).data,
    addedAt: iso(row.added_at),
    runtimeMs: row.runtime_ms,
    ageRating: row.age_rating,
    rating: row.rating === null ? null : Math.round(row.rating * 10) / 10,
    artwork: artworkOf(row.artwork),
    userState: stateOf(row, content),
    availability: row.availability,
    childCount: content?.children,
    unwatchedCount: content?.unwatched,
    editionCount: row.edition_count,
    resolution: resolutionOf(row.height),
    hdr: row.hdr,
    takenAt: iso(row.taken_at),
    progressLabel: progressLabel(row),
    ...(may(who, 'item:edit') ? { matched: row.matched, lockedFields: row.locked_fields } : {}),
    ...pickParsed(row.details, summaryDetails),
  });
}

function stateOf(row: SummaryRow, content: Content | undefined): UserState {
  return withoutNull({
    ...(content ? watchedOf(content) : watchedOf({ leaves: 1, unwatched: row.watched ? 0 : 1 })),
    ...(content ? {} : { progress: Math.min(1, Math.max(0, row.progress ?? 0)) }),
    positionMs: row.position_ms ?? 0,
    playCount: row.play_count ?? 0,
    lastPlayedAt: iso(row.last_played_at),
    rating: row.own_rating,
    favorite: row.favorite ?? false,
    inWatchlist: false,
  });
}

function watchedOf({ leaves, unwatched }: Omit<Content, 'children'>): { watched: boolean; progress: number } {
  return { watched: leaves > 0 && unwatched === 0, progress: leaves > 0 ? (leaves - unwatched) / leaves : 0 };
}

/** `page 12 of 40` of a reading position `page:12`. */
function progressLabel({ reading, details }: SummaryRow): string | undefined {
  const page = /^page:(\d+)$/.exec(reading?.position ?? '')?.[1];
  if (page === undefined) return undefined;
  return typeof details.pages === 'number' ? `page ${page} of ${details.pages}` : `page ${page}`;
}

const shown = { poster: ImageRef, backdrop: ImageRef, thumb: ImageRef, logo: ImageRef };

export function artworkOf(artwork: Record<string, unknown>): ItemSummary['artwork'] {
  return pickParsed(artwork, shown) as ItemSummary['artwork'];
}

/** The members of `value` that parse: rows are written by agents and scans, and one bad member must not hide an item. */
export function pickParsed<S extends z.ZodRawShape>(
  value: Record<string, unknown>,
  shape: S,
): { [K in keyof S]?: z.output<S[K]> } {
  const picked: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(shape)) {
    if (value[name] === undefined || value[name] === null) continue;
    const parsed = z.safeParse(schema, value[name]);
    if (parsed.success) picked[name] = parsed.data;
  }
  return picked as { [K in keyof S]?: z.output<S[K]> };
}

type Present<T> = { [K in keyof T]: Exclude<T[K], null> };

/** Drops what is null or undefined: absent members are not written. */
export function withoutNull<T extends object, R = Present<T>>(value: T): R {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null && member !== undefined)) as R;
}
