import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { onlyKnownLabels, onlyVisibleItems } from '#identity/visibility.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { breaks, type Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Label } from './labels.schemas.ts';

export const MOST_LABELS = 500;

export interface LabelRow extends Row<'labels'> {
  only_for_some: boolean;
  /** Restricted, or with an entry in `deny` or `only`. */
  restricts: boolean;
  item_count: number;
}

export interface LabelQuery {
  q?: string | undefined;
  restricted?: boolean | undefined;
  /** Only labels with these numbers. */
  numbers?: readonly number[] | undefined;
  libraryId?: string | undefined;
}

const COLUMNS = 'number id name name_folded color description restricted created_at updated_at'
  .split(' ')
  .map((name) => `l.${name}`);
const named = (parts: string): string =>
  `exists (select 1 from label_principals r where r.label = l.number and r.part in (${parts}))`;

/** LabelRows as `l`. A label whose items are all hidden from the caller is left out, so that its name reveals nothing. */
export function selectLabels(db: Db, who: Principal, options: LabelQuery = {}): Knex.QueryBuilder {
  const carriers = (): Knex.QueryBuilder =>
    db.from('item_labels as il').join('items as i', 'i.id', 'il.item_id').whereRaw('il.label = l.number');
  const visible = carriers().modify(onlyVisibleItems, who, 'i');
  const rows = db
    .from('labels as l')
    .modify(onlyKnownLabels, who, 'l')
    .select(COLUMNS)
    .select(
      db.raw(`${named(`'only'`)} as only_for_some, (l.restricted or ${named(`'deny', 'only'`)}) as restricts`),
      db.raw('? as item_count', [visible.clone().select(db.raw('count(*)::int')) as unknown as string]),
      db.raw('exists ? as carried', [carriers().whereNull('i.trashed_at').select(db.raw('1')) as unknown as string]),
    );
  if (options.q !== undefined) {
    rows.whereRaw('l.name_folded like foyer_fold(?)', [`%${options.q.replace(/[\\%_]/g, '\\$&')}%`]);
  }
  if (options.restricted !== undefined) rows.where('l.restricted', options.restricted);
  if (options.numbers) rows.whereRaw('l.number = any(?::int[])', [[...options.numbers]]);
  if (options.libraryId !== undefined) rows.whereExists(visible.clone().where('i.library_id', options.libraryId));
  return db
    .queryBuilder()
    .from(rows.as('l'))
    .whereRaw('(not l.carried or l.item_count > 0)')
    .select('l.*') as Knex.QueryBuilder;
}

/** 404 for an unknown label and for one that is hidden from the caller. */
export async function getLabel(db: Db, who: Principal, id: string): Promise<LabelRow> {
  const row: LabelRow | undefined = await selectLabels(db, who).where('l.id', id).first();
  if (!row) throw notFound();
  return row;
}

/** `getLabel`, with a lock on the row until the transaction ends. */
export async function lockLabel(db: Db, who: Principal, id: string): Promise<LabelRow> {
  await db('labels').where({ id }).forUpdate().select('number');
  return getLabel(db, who, id);
}

export function toLabel(row: LabelRow): Label {
  return {
    id: row.id,
    name: row.name,
    color: row.color,
    ...(row.description ? { description: row.description } : {}),
    restricted: row.restricted,
    onlyForSome: row.only_for_some,
    itemCount: row.item_count,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

/** Default colors, taken in turn for labels without one. */
const COLORS = [
  ...['#e5484d', '#f76b15', '#ffc53d', '#99d52a', '#30a46c', '#12a594'],
  ...['#00a2c7', '#3e63dd', '#6e56cf', '#ab4aba', '#d6409f', '#8d8d8d'],
];

export interface LabelInsert {
  name: string;
  color?: string | undefined;
  description?: string | undefined;
  restricted: boolean;
}

/** Throws 409 `duplicate-name`, `too-many-labels`. */
export async function insertLabel(db: Db, draft: LabelInsert): Promise<{ id: string; number: number }> {
  await db.raw(`select pg_advisory_xact_lock(hashtext('foyer.labels'))`);
  const [now] = await db('labels').select<{ n: number; last: number }[]>(
    db.raw('count(*)::int as n, coalesce(max(number), 0) as last'),
  );
  if ((now?.n ?? 0) >= MOST_LABELS) throw conflict('too-many-labels', `A server has at most ${MOST_LABELS} labels`);
  const { name, color, description, restricted } = draft;
  const [row] = await writing(() =>
    db('labels')
      .insert({
        id: newId(),
        name,
        name_folded: db.raw('foyer_fold(?)', [name]),
        color: (color ?? COLORS[(now?.last ?? 0) % COLORS.length] ?? '#8d8d8d').toLowerCase(),
        description: description || null,
        restricted,
      })
      .returning(['id', 'number']),
  );
  if (!row) throw new Error('no row');
  return row;
}

export interface LabelUpdate {
  name?: string | undefined;
  color?: string | undefined;
  description?: string | null | undefined;
}

/** Throws 409 `duplicate-name`. */
export async function updateLabelRow(db: Db, number: number, change: LabelUpdate): Promise<void> {
  const { name, color, description } = change;
  await writing(() =>
    db('labels')
      .where({ number })
      .update({
        ...(name === undefined ? {} : { name, name_folded: db.raw('foyer_fold(?)', [name]) }),
        ...(color === undefined ? {} : { color: color.toLowerCase() }),
        ...(description === undefined ? {} : { description: description || null }),
        updated_at: new Date(),
      }),
  );
}

async function writing<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (breaks(error, 'labels_name_folded_key')) throw conflict('duplicate-name', 'Another label has this name');
    throw error;
  }
}

interface Inherited {
  number: number;
  /** Null when the item carries the label directly. */
  from: string | null;
}

/** Labels of a visible item, each with the nearest item above it that carries the label directly. */
export async function labelsOfItem(db: Db, itemId: string): Promise<Inherited[]> {
  const found = await db.raw<{ rows: Inherited[] }>(
    `with recursive up as (
       select i.id, i.parent_id, i.grandparent_id, i.extra_of, 0 as level from items i where i.id = ?
       union
       select a.id, a.parent_id, a.grandparent_id, a.extra_of, u.level + 1 from up u
         join items a on a.id in (u.parent_id, u.grandparent_id, u.extra_of) where u.level < 5)
     select distinct on (il.label) il.label as number, case when u.level > 0 then u.id end as from
     from up u join item_labels il on il.item_id = u.id order by il.label, u.level`,
    [itemId],
  );
  return found.rows;
}
