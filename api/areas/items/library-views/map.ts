import type { z } from 'zod';
import { bounded } from '#kernel/bounded.ts';
import type { Call } from '#kernel/endpoint.ts';
import { knowCustomFields } from '../fields/custom-fields.ts';
import { heldTypesOf } from '../kinds.ts';
import { type Listing, listed, rulesFor } from '../listing/listing.ts';
import { type LibraryRow, shelvesOf } from '../listing/shelves.store.ts';
import type { MapCluster } from '../listing.schemas.ts';
import { pictureOf } from './timeline.ts';

export interface Box {
  west: number;
  south: number;
  east: number;
  north: number;
}

/**
 * `west,south,east,north` in degrees; undefined for a malformed box. A west that lies east of the east crosses the date
 * line.
 */
export function parseBox(text: string): Box | undefined {
  const parts = text.split(',');
  const numbers = parts.map(Number);
  const [west = 0, south = 0, east = 0, north = 0] = numbers;
  const shaped = parts.length === 4 && parts.every((part) => /^-?\d{1,3}(\.\d{1,12})?$/.test(part));
  const within = numbers.every((number, i) => Math.abs(number) <= (i % 2 === 0 ? 180 : 90));
  return shaped && within && south <= north ? { west, south, east, north } : undefined;
}

interface ClusterRow {
  latitude: number;
  longitude: number;
  count: number;
  newest: string;
  west: number;
  south: number;
  east: number;
  north: number;
}

const MOST = 1000;

/** Items in the box, clustered in squares of a quarter of a map tile at this zoom. */
export async function mapClusters(
  call: Call,
  library: LibraryRow,
  options: { box: Box; zoom: number; filter?: string | undefined },
): Promise<{ clusters: z.output<typeof MapCluster>[]; total: number }> {
  const { db } = call;
  const { box } = options;
  const types = heldTypesOf(library);
  await knowCustomFields(call, { texts: [options.filter] });
  const listing: Listing = { types, shelves: shelvesOf([library], types) };
  const places = listed(call, listing, rulesFor(call, types, options.filter))
    .select('i.id', 'i.latitude', 'i.longitude')
    .select(db.raw('coalesce(i.taken_at, i.added_at) as at'))
    .whereRaw('i.latitude is not null and i.latitude between ? and ?', [box.south, box.north])
    .whereRaw(`(i.longitude >= ? ${box.west <= box.east ? 'and' : 'or'} i.longitude <= ?)`, [box.west, box.east]);
  const cell = 360 / 2 ** options.zoom / 4;
  const rows = await bounded<(ClusterRow & { total: number })[]>(
    db
      .queryBuilder()
      .from(places.as('place'))
      .select(
        db.raw(
          `avg(latitude) as latitude, avg(longitude) as longitude, count(*)::int as count,
           right(max((to_char(at at time zone 'UTC', 'YYYYMMDDHH24MISSUS') || id::text) collate "C"), 36) as newest,
           min(longitude) as west, min(latitude) as south, max(longitude) as east, max(latitude) as north,
           (sum(count(*)) over ())::int as total`,
        ),
      )
      .groupByRaw('floor(latitude / ?), floor(longitude / ?)', [cell, cell])
      .orderByRaw('count(*) desc, newest')
      .limit(MOST),
  );
  const covers = await findPictures(call, rows.slice(0, MOST));
  return {
    total: rows[0]?.total ?? 0,
    clusters: rows.map((row) => {
      const cover = covers.get(row.newest);
      return {
        latitude: row.latitude,
        longitude: row.longitude,
        count: row.count,
        itemId: row.newest,
        ...(cover ? { cover } : {}),
        bounds: [row.west, row.south, row.east, row.north],
      };
    }),
  };
}

async function findPictures(
  { db }: Call,
  rows: readonly ClusterRow[],
): Promise<Map<string, ReturnType<typeof pictureOf>>> {
  const found = await db('items')
    .whereRaw('id = any(?::uuid[])', [rows.map((row) => row.newest)])
    .select('id', 'artwork');
  return new Map(found.map(({ id, artwork }) => [id, pictureOf(artwork)]));
}
