import type { Knex } from 'knex';
import { may, type Principal } from '#identity/principal.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { containersSql, isContainer } from '#platform/item-types.ts';
import type { Row } from '#platform/typed-query.ts';
import { detailLists, ExtraKind, type ItemDetail, type ItemSummary, moreDetails } from '../items.schemas.ts';
import { findLabels, findTags } from '../relations/relations.store.ts';
import {
  findItemSummaries,
  pickParsed,
  type SummaryRow,
  summaryRows,
  visibleItems,
  withoutNull,
} from './summaries.store.ts';

/** An item as other areas need it before they act on it. */
export interface VisibleItem {
  id: string;
  libraryId: string;
  libraryType: string;
  librarySettings: Record<string, unknown>;
  type: string;
  /** Holds other items and is not played itself. */
  container: boolean;
  title: string;
  /** The direct container, and the one above it: season and show of an episode. */
  parentId: string | null;
  grandparentId: string | null;
  /** The item that this one is a trailer, deleted scene or other extra of. */
  extraOf: string | null;
  /** Number in the parent, such as the episode; `parentIndex` is the number of the parent, 0 for specials. */
  indexNumber: number | null;
  parentIndex: number | null;
  runtimeMs: number | null;
  fileCount: number;
  revision: number;
}

/** Columns of VisibleItem. */
const VISIBLE = [
  ...(['id', 'library_id', 'type', 'title', 'parent_id', 'grandparent_id', 'extra_of', 'index_number'] as const),
  ...(['parent_index', 'runtime_ms', 'file_count', 'revision'] as const),
];

interface VisibleRow extends Pick<Row<'items'>, (typeof VISIBLE)[number]> {
  library_type: string;
  library_settings: Record<string, unknown>;
}

/** The item, extras too. Throws 404 when it does not exist, is trashed or is hidden from the caller. */
export async function getVisibleItem(db: Db, who: Principal, id: string): Promise<VisibleItem> {
  const item = await findVisibleItem(db, who, id);
  if (!item) throw notFound();
  return item;
}

/** As getVisibleItem, with a lock: the row cannot be deleted before the transaction of `db` ends. */
export async function holdVisibleItem(db: Db, who: Principal, id: string): Promise<VisibleItem> {
  const item = await findHeldItem(db, who, id);
  if (!item) throw notFound();
  return item;
}

/** As holdVisibleItem, but undefined instead of 404. */
export async function findHeldItem(db: Db, who: Principal, id: string): Promise<VisibleItem | undefined> {
  const row: VisibleRow | undefined = await visibleItem(db, who, id).forKeyShare('i').first();
  return row && toVisibleItem(row);
}

/** As getVisibleItem, but undefined instead of 404. */
export async function findVisibleItem(db: Db, who: Principal, id: string): Promise<VisibleItem | undefined> {
  const row: VisibleRow | undefined = await visibleItem(db, who, id).first();
  return row && toVisibleItem(row);
}

function visibleItem(db: Db, who: Principal, id: string): Knex.QueryBuilder {
  return visibleItems(db, who)
    .join('libraries as l', 'l.id', 'i.library_id')
    .where('i.id', id)
    .select(...VISIBLE.map(ofItem), 'l.type as library_type', 'l.settings as library_settings');
}

function toVisibleItem(row: VisibleRow): VisibleItem {
  return {
    id: row.id,
    libraryId: row.library_id,
    libraryType: row.library_type,
    librarySettings: row.library_settings,
    type: row.type,
    container: isContainer(row.type),
    title: row.title,
    parentId: row.parent_id,
    grandparentId: row.grandparent_id,
    extraOf: row.extra_of,
    indexNumber: row.index_number,
    parentIndex: row.parent_index,
    runtimeMs: row.runtime_ms,
    fileCount: row.file_count,
    revision: row.revision,
  };
}

const ofItem = (name: string): string => `i.${name}`;

/** True when the caller may see where photos of a library with these settings were taken. Absent settings share it. */
export function sharesPlace(who: Principal, settings: Record<string, unknown>): boolean {
  return settings.shareLocation !== false || may(who, 'item:edit');
}

/** Columns of ItemDetail that a summary lacks. */
const DETAILS = [
  ...(['details', 'file_count', 'locked_fields', 'overview', 'tagline', 'external_ids', 'size_bytes'] as const),
  ...(['extra_of', 'extra_kind', 'added_by', 'revision', 'updated_at'] as const),
];

interface DetailRow extends SummaryRow, Pick<Row<'items'>, (typeof DETAILS)[number]> {
  shares_place: boolean;
}

/** ItemDetail by id, without includes; `files` stays empty. Hidden ids are left out. */
export async function findItemDetails(
  db: Db,
  who: Principal,
  ids: readonly string[],
): Promise<Map<string, ItemDetail>> {
  const rows: DetailRow[] = await summaryRows(db, who)
    .join('libraries as l', 'l.id', 'i.library_id')
    .whereRaw('i.id = any(?::uuid[])', [[...ids]])
    .select(DETAILS.map(ofItem))
    .select(db.raw(`coalesce(l.settings ->> 'shareLocation', 'true') <> 'false' as shares_place`));
  const [tags, labels] = await Promise.all([findTags(db, ids), findLabels(db, who, ids)]);
  return new Map(
    rows.map((row) => [row.id, toDetail(row, { who, tags: tags.get(row.id) ?? {}, labels: labels.get(row.id) ?? [] })]),
  );
}

/** Tags of an item by their kind. */
type Tags = Partial<Record<string, { id?: string; name: string }[]>>;

/** Later members replace earlier ones of the same name: stored lists replace the empty ones. */
function toDetail(row: DetailRow, { who, tags, labels }: { who: Principal; tags: Tags; labels: string[] }): ItemDetail {
  const names = (kind: string): string[] => (tags[kind] ?? []).map((tag) => tag.name);
  const edit = may(who, 'item:edit');
  const { place, ...more } = pickParsed(row.details, moreDetails);
  return {
    ...row.summary,
    ...withoutNull({
      ...more,
      place: row.shares_place || edit ? place : undefined,
      overview: row.overview,
      tagline: row.tagline,
      sizeBytes: row.file_count > 0 ? row.size_bytes : undefined,
      extraOf: row.extra_of,
      extraKind: ExtraKind.safeParse(row.extra_kind).data,
      addedBy: row.added_by,
    }),
    ...emptyLists,
    ...pickParsed(row.details, detailLists),
    genres: names('genre'),
    tags: names('tag'),
    labels,
    studios: [...(tags.studio ?? []), ...(tags.network ?? [])],
    countries: names('country'),
    externalIds: row.external_ids,
    lockedFields: row.locked_fields,
    files: [],
    revision: row.revision,
    updatedAt: iso(row.updated_at),
    may: { edit, delete: edit, download: may(who, 'download:own'), refresh: edit },
  };
}

const emptyLists = { ratings: [], trailers: [], links: [], ageRatings: [] };

/** A playable item of a container, with the caller's state. */
interface Leaf {
  id: string;
  type: string;
  watched: boolean;
  /** Has progress, by position or page; a watched item has it too. */
  begun: boolean;
  /** Time of the last play; null for one that was opened for a moment only. */
  played: Date | null;
}

/** Containers whose items are played in their order, in contrast to an artist or a photo album. */
const orderedTypes = ['show', 'season', 'course', 'section', 'album', 'comic-series', 'author'];

/**
 * The child to continue with: the one started last, else the first unwatched one from the last played one on, else the
 * first unwatched one. Specials come last. Undefined when everything is watched. Whether the
 * container has an order is not checked here, see `isOrdered`.
 */
export async function nextUp(db: Db, who: Principal, containerId: string): Promise<ItemSummary | undefined> {
  const next = nextOf(await findLeaves(db, who, containerId));
  return next && (await findItemSummaries(db, who, [next.id])).get(next.id);
}

/**
 * Id of the child of one of `types` with which playing a container starts: the next one, or the first one when everything
 * is watched. Undefined when there is none.
 */
export async function firstToPlay(
  db: Db,
  who: Principal,
  { containerId, types }: { containerId: string; types: readonly string[] },
): Promise<string | undefined> {
  const leaves = (await findLeaves(db, who, containerId)).filter((leaf) => types.includes(leaf.type));
  return (nextOf(leaves) ?? leaves[0])?.id;
}

/** Bounds the memory of a request; items beyond it are left out. */
const MAX_LEAVES = 20_000;

/** The visible playable items of a container in playing order, specials (season 0) last. */
async function findLeaves(db: Db, who: Principal, containerId: string): Promise<Leaf[]> {
  return visibleItems(db, who)
    .whereNull('i.extra_of')
    .whereRaw(`(i.parent_id = ? or i.grandparent_id = ?) and i.type <> all(${containersSql})`, [
      containerId,
      containerId,
    ])
    .select('i.id', 'i.type')
    .select(
      db.raw(`coalesce(s.watched, false) as watched, coalesce(s.progress, 0) > 0 as begun,
        s.last_played_at as played`),
    )
    .orderByRaw(`(i.type = 'episode' and i.parent_index = 0), i.parent_index nulls first, i.index_number nulls last`)
    .orderBy('i.id')
    .limit(MAX_LEAVES);
}

/** The next of `leaves`, which are in playing order, by the rule of `nextUp`. */
export function nextOf<L extends Omit<Leaf, 'id' | 'type'>>(leaves: readonly L[]): L | undefined {
  const playedAt = (leaf: L): number => leaf.played?.getTime() ?? 0;
  const latest = (list: readonly L[]): L | undefined =>
    list.reduce<L | undefined>((best, leaf) => (!best || playedAt(leaf) > playedAt(best) ? leaf : best), undefined);
  const begun = latest(leaves.filter((leaf) => !leaf.watched && leaf.begun));
  const last = latest(leaves.filter((leaf) => leaf.played !== null));
  if (begun && (!last || playedAt(begun) >= playedAt(last))) return begun;
  const after = last ? leaves.slice(leaves.indexOf(last)) : []; // with `last` itself, which may be unwatched again
  return after.find((leaf) => !leaf.watched) ?? begun ?? leaves.find((leaf) => !leaf.watched);
}

/** True for a container type whose items have a next one to play. */
export function isOrdered(type: string): boolean {
  return orderedTypes.includes(type);
}
