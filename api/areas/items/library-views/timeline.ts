import type { Knex } from 'knex';
import type { z } from 'zod';
import { bounded } from '#kernel/bounded.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { readCursor, scopeOf, writeCursor } from '#kernel/page.ts';
import { type ImageRef, iso } from '#kernel/schemas.ts';
import type { Row } from '#platform/typed-query.ts';
import { knowCustomFields } from '../fields/custom-fields.ts';
import { takenLocally } from '../fields/field-sql.ts';
import { artworkOf } from '../item/summaries.store.ts';
import { type Listing, listed, rulesFor, sortOf } from '../listing/listing.ts';
import { type LibraryRow, shelvesOf } from '../listing/shelves.store.ts';
import type { TimelineBucket, TimelineColumns } from '../listing.schemas.ts';
import { listScope } from '../queries.ts';
import { FIRST_ID } from './library-index.ts';

export type Unit = 'year' | 'month' | 'day';
export type TimelineField = 'takenAt' | 'addedAt' | 'releasedOn';

export interface TimelineQuery {
  types: readonly string[];
  unit: Unit;
  field: TimelineField;
  filter?: string | undefined;
}

const formats = { year: 'YYYY', month: 'YYYY-MM', day: 'YYYY-MM-DD' } as const;
const columns = { takenAt: 'i.taken_at', addedAt: 'i.added_at', releasedOn: 'i.released_on' } as const;

/** SQL of the local time of a field, and its bindings. */
function localTime(field: TimelineField, zone: string): [string, string[]] {
  if (field === 'releasedOn') return ['i.released_on::timestamp', []];
  return field === 'takenAt' ? [takenLocally('?'), [zone]] : ['i.added_at at time zone ?', [zone]];
}

interface BucketRow {
  key: string | null;
  count: number;
  first: string | null;
  newest: string | null;
}

const MOST = 5000;

function narrowed(call: Call, library: LibraryRow, options: TimelineQuery): Knex.QueryBuilder {
  const listing: Listing = { types: options.types, shelves: shelvesOf([library], options.types) };
  return listed(call, listing, rulesFor(call, options.types, options.filter));
}

/** All buckets, newest first, undated items last. */
export async function timelineBuckets(
  call: Call,
  library: LibraryRow,
  options: TimelineQuery,
): Promise<z.output<typeof TimelineBucket>[]> {
  const { db, deps } = call;
  await knowCustomFields(call, { texts: [options.filter] });
  const [local, bindings] = localTime(options.field, deps.settings.get('server.timeZone'));
  const column = columns[options.field];
  const rows = await bounded<BucketRow[]>(
    db
      .queryBuilder()
      .from(
        narrowed(call, library, options)
          .select(
            'i.id',
            db.raw(`${column} as at`),
            db.raw(`to_char(${local}, '${formats[options.unit]}') as key`, bindings),
          )
          .as('dated'),
      )
      .select('key', db.raw('count(*)::int as count, max(at)::text as first'))
      .select(db.raw(`right(max((at::text || '|' || id::text) collate "C"), 36) as newest`))
      .groupBy('key')
      .orderByRaw('key desc nulls last')
      .limit(MOST),
  );
  const covers = await findCovers(call, rows);
  const { terms, scope } = sortOf(call, {
    scope: listScope(library.id, options.types),
    sort: `-${options.field}`,
    fallback: 'title',
    sorts: [options.field],
    filter: options.filter,
  });
  return rows.map((row) => {
    const cover = row.newest === null ? undefined : covers.get(row.newest);
    const cursor = writeCursor(deps.keys, scopeOf({ scope, terms }), { values: [row.first], id: FIRST_ID });
    return { key: row.key ?? 'undated', count: row.count, cursor, ...(cover ? { cover } : {}) };
  });
}

/** Pictures of the newest item of the first 1,000 buckets. */
async function findCovers(call: Call, rows: readonly BucketRow[]): Promise<Map<string, ImageRef>> {
  const ids = rows.flatMap((row) => (row.newest === null || !UUID.test(row.newest) ? [] : [row.newest])).slice(0, 1000);
  const found = await call.db('items').whereRaw('id = any(?::uuid[])', [ids]).select('id', 'artwork');
  return new Map(
    found.flatMap(({ id, artwork }): [string, ImageRef][] => {
      const image = pictureOf(artwork);
      return image ? [[id, image]] : [];
    }),
  );
}

const UUID = /^[0-9a-f-]{36}$/;

export function pictureOf(artwork: Record<string, unknown>): ImageRef | undefined {
  const { thumb, poster } = artworkOf(artwork);
  return thumb ?? poster;
}

/** Items of one answer; a larger bucket continues at `next`. */
const TILES = 10_000;

interface TileRow extends Pick<Row<'items'>, 'id' | 'type' | 'artwork' | 'runtime_ms'> {
  /** The value of the field as Postgres writes it, without loss. */
  place: string | null;
  at: Date | null;
  aspect: unknown;
  live: boolean | null;
  favorite: boolean;
}

/** The items of a bucket as columns, newest first. */
export async function timelineColumns(
  call: Call,
  library: LibraryRow,
  options: TimelineQuery & { bucket: string; cursor?: string | undefined },
): Promise<z.output<typeof TimelineColumns>> {
  const { keys } = call.deps;
  const column = columns[options.field];
  const { bucket, field, filter, types } = options;
  const scope = [`getLibraryTimeline|${library.id}`, bucket, field, filter, types.join(), call.who.profileId].join('|');
  const query = inBucket(call, narrowed(call, library, options), options)
    .select('i.id', 'i.type', 'i.artwork', 'i.runtime_ms')
    .select(
      call.db.raw(`${column}::timestamptz as at, ${column}::text as place, i.details -> 'aspect' as aspect,
        i.details -> 'live' = 'true' as live, coalesce(s.favorite, false) as favorite`),
    )
    .orderByRaw(`${column} desc nulls last, i.id`)
    .limit(TILES + 1);
  if (options.cursor !== undefined) {
    const { values, id } = readCursor(keys, scope, options.cursor);
    const [place = null] = values;
    if (place === null) query.where('i.id', '>', id);
    else query.whereRaw(`(${column} < ? or ${column} = ? and i.id > ?)`, [place, place, id]);
  }
  const found = await bounded<TileRow[]>(query);
  const rows = found.slice(0, TILES);
  const last = found.length > TILES ? rows.at(-1) : undefined;
  const pictures = rows.map((row) => pictureOf(row.artwork));
  return {
    bucket: options.bucket,
    ids: rows.map((row) => row.id),
    takenAt: rows.map((row) => iso(row.at)),
    aspects: rows.map((row, i) => aspectOf(row.aspect, pictures[i])),
    blurhashes: pictures.map((picture) => picture?.blurhash ?? null),
    imageIds: pictures.map((picture) => picture?.id ?? null),
    kinds: rows.map((row) => (row.live ? 'live' : row.type === 'video' ? 'video' : 'photo')),
    durationsMs: rows.map((row) => (row.type === 'video' ? row.runtime_ms : null)),
    favorites: rows.map((row) => row.favorite),
    ...(last && { next: writeCursor(keys, scope, { values: [last.place], id: last.id }) }),
  };
}

function aspectOf(aspect: unknown, picture: z.output<typeof ImageRef> | undefined): number | null {
  if (typeof aspect === 'number') return aspect;
  return picture && picture.height > 0 ? picture.width / picture.height : null;
}

function inBucket(
  call: Call,
  query: Knex.QueryBuilder,
  { field, bucket }: { field: TimelineField; bucket: string },
): Knex.QueryBuilder {
  if (bucket === 'undated') return query.whereRaw(`${columns[field]} is null`);
  const format = { 4: formats.year, 7: formats.month, 10: formats.day }[bucket.length];
  if (!format) throw invalid(['query', 'bucket'], 'bad_bucket', 'YYYY, YYYY-MM, YYYY-MM-DD or undated');
  const [local, bindings] = localTime(field, call.deps.settings.get('server.timeZone'));
  return query.whereRaw(`to_char(${local}, '${format}') = ?`, [...bindings, bucket]);
}
