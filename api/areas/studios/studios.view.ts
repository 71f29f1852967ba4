import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { visibleClasses } from '#identity/visibility.ts';
import { imageRefSql } from '#kernel/images.ts';
import { Country, ImageRef } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Studio } from './studios.schemas.ts';

/** Visible items by studio, as rows of `owner_id` and `items`; of one library, where it is given. */
export function visibleCounts(db: Db, who: Principal, libraryId?: string): Knex.QueryBuilder {
  return db
    .from('credited_counts as cc')
    .where('cc.kind', 'studio')
    .whereRaw('cc.class_id = any(?)', [visibleClasses(db, who, libraryId)])
    .groupBy('cc.owner_id')
    .select('cc.owner_id', db.raw('sum(cc.items)::int as items'));
}

const COLUMNS = ['s.id', 's.library_id', 's.name', 's.kind', 's.country'] as const;

interface StudioRow extends Pick<Row<'studios'>, 'id' | 'library_id' | 'name' | 'kind' | 'country'> {
  logo: unknown;
  item_count: number;
}

/** Studios with visible items, in the order of `ids`. */
export async function listStudiosOf(db: Db, who: Principal, ids: readonly string[]): Promise<Studio[]> {
  if (ids.length === 0) return [];
  const counts = visibleCounts(db, who).whereRaw('cc.owner_id = any(?::uuid[])', [[...ids]]);
  const rows: StudioRow[] = await db
    .from('studios as s')
    .join(counts.as('v'), 'v.owner_id', 's.id')
    .select(...COLUMNS, 'v.items as item_count', db.raw(`${imageRefSql('s.logo_image_id')} as logo`));
  const found = new Map(rows.map((row) => [row.id, toStudio(row)]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

function toStudio(row: StudioRow): Studio {
  const logo = ImageRef.safeParse(row.logo).data;
  const country = Country.safeParse(row.country).data;
  return {
    id: row.id,
    libraryId: row.library_id,
    name: row.name,
    sortName: row.name,
    kind: row.kind,
    ...(logo && { logo }),
    ...(country && { country }),
    itemCount: row.item_count,
  };
}
