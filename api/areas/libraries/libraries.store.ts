import type { LibraryAccess } from '#areas/accounts/public.ts';
import { setLibraryAccess } from '#areas/accounts/public.ts';
import { requireIcon } from '#areas/icons/public.ts';
import type { Principal } from '#identity/principal.ts';
import { onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { breaks, type Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { OwnType } from '#platform/own-types.ts';
import type { Row } from '#platform/typed-query.ts';
import type { LibraryDraft, LibrarySettings } from './libraries.schemas.ts';
import { ownTypeOf } from './own-type.store.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'libraries.settings': Partial<LibrarySettings>;
    'libraries.item_counts': Record<string, number>;
    'libraries.own_type': OwnType | null;
  }
}

export type LibraryRow = Pick<Row<'libraries'>, (typeof COLUMNS)[number]>;

const COLUMNS = [
  'id',
  'name',
  'type',
  'own_type',
  'icon',
  'position',
  'settings',
  'everyone',
  'access_roles',
  'poster_image_id',
  'managed_by',
  'managed_fields',
  'item_counts',
  'size_bytes',
  'duration_ms',
  'missing_count',
  'trash_count',
  'revision',
  'created_at',
  'updated_at',
] as const;

export const MOST_LIBRARIES = 500;

/** Start of every read: the libraries that `who` may see. */
function visible(db: Db, who: Principal) {
  return db('libraries')
    .select(COLUMNS.map((column) => `libraries.${column}` as const))
    .modify(onlyVisibleLibraries, who);
}

/** In sidebar order. */
export async function listLibraryRows(db: Db, who: Principal, type?: string): Promise<LibraryRow[]> {
  const query = visible(db, who).orderBy([{ column: 'position' }, { column: 'name_folded' }, { column: 'id' }]);
  if (type) query.where('type', type);
  return query;
}

export async function findLibraryRow(db: Db, who: Principal, id: string): Promise<LibraryRow | undefined> {
  const [row] = await visible(db, who).where('libraries.id', id);
  return row;
}

/** Throws NOT_FOUND. */
export async function getLibraryRow(db: Db, who: Principal, id: string): Promise<LibraryRow> {
  const row = await findLibraryRow(db, who, id);
  if (!row) throw notFound();
  return row;
}

/** Locks the row until the end of the transaction, so that changes are serial. Throws NOT_FOUND. */
export async function lockLibraryRow(db: Db, who: Principal, id: string): Promise<LibraryRow> {
  const [row] = await visible(db, who).where('libraries.id', id).forUpdate('libraries');
  if (!row) throw notFound();
  return row;
}

export async function findManagedLibraryId(db: Db, uid: string): Promise<string | undefined> {
  const row = await db('libraries').whereRaw(`managed_by ->> 'uid' = ?`, [uid]).whereNull('deleted_at').first('id');
  return row?.id;
}

/** Throws 400 `unknown_type` and `unknown_icon`, 409 `duplicate-name` and `library-limit`. */
export async function insertLibrary(db: Db, draft: LibraryDraft): Promise<string> {
  const own = await ownTypeOf(db, draft.type);
  await requireIcon(db, 'icon', draft.icon);
  const settings = { ...own?.settings, ...draft.settings };
  await db.raw(`select pg_advisory_xact_lock(hashtext('libraries'))`); // serialises the count and the next position
  const [counted] = await db('libraries')
    .whereNull('deleted_at')
    .select<{ n: number; last: number }[]>(db.raw('count(*) as n, coalesce(max(position), -1) as last'));
  if ((counted?.n ?? 0) >= MOST_LIBRARIES) throw conflict('library-limit', `At most ${MOST_LIBRARIES} libraries`);
  const id = newId();
  await unlessNameTaken(() =>
    db('libraries').insert({
      id,
      name: draft.name,
      name_folded: foldName(draft.name),
      type: draft.type,
      own_type: own ? JSON.stringify(own.type) : null,
      icon: draft.icon ?? null,
      position: draft.order ?? (counted?.last ?? -1) + 1,
      settings: JSON.stringify(settings),
      age_limit: settings.ageLimit ?? null,
      managed_by: draft.managedBy ? JSON.stringify(draft.managedBy) : null,
      managed_fields: draft.managedFields ?? [],
    }),
  );
  return id;
}

/** Increases the revision. Throws 409 `duplicate-name`. */
export async function changeLibraryRow(db: Db, id: string, change: Record<string, unknown>): Promise<void> {
  const name = typeof change.name === 'string' ? { name_folded: foldName(change.name) } : {};
  await unlessNameTaken(() =>
    db('libraries')
      .where({ id })
      .update({ ...change, ...name, revision: db.raw('revision + 1'), updated_at: new Date() }),
  );
}

function foldName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

async function unlessNameTaken(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (breaks(error, 'libraries_name')) throw conflict('duplicate-name', 'A library of that name exists already');
    throw error;
  }
}

/** Hides the library from everyone; job library.delete deletes its rows. */
export async function hideLibrary(db: Db, id: string): Promise<void> {
  await db('libraries').where({ id }).update({ deleted_at: new Date() });
}

/** Positions follow `ids`, then the other libraries in their previous order. The caller has checked the ids. */
export async function writeOrder(db: Db, ids: readonly string[]): Promise<void> {
  await db.raw(
    `update libraries l set position = o.place, revision = revision + 1, updated_at = now()
     from (select id, row_number() over (order by array_position(?::uuid[], id) nulls last, position, name_folded) - 1 as place
           from libraries where deleted_at is null) o
     where l.id = o.id and l.position is distinct from o.place`,
    [[...ids]],
  );
}

/** Sets the access rule of a library and the accounts with explicit access. */
export async function setAccess(
  call: Call,
  id: string,
  { access, isNew }: { access: LibraryAccess; isNew: boolean },
): Promise<void> {
  const columns = { everyone: access.everyone, access_roles: [...access.roles] };
  const store = async () => void (await call.db('libraries').where({ id }).update(columns));
  await setLibraryAccess(call, id, { access, isNew, store });
}

/**
 * Increases the change numbers of the items' libraries and keeps the rows locked. Locks in order of id, to avoid
 * deadlocks.
 */
export async function raiseLabelsOfItems(db: Db, itemIds: readonly string[]): Promise<void> {
  await db.raw(
    `with held as (select l.id from libraries l where l.id in (select i.library_id from items i where i.id = any(?::uuid[]))
       order by l.id for update)
     update libraries l set change_seq = l.change_seq + 1, labels_seq = l.labels_seq + 1 from held where l.id = held.id`,
    [[...itemIds]],
  );
}

/** Increases the change numbers of the libraries in which items carry the label. */
export async function raiseLabelsOf(db: Db, label: number): Promise<void> {
  await db.raw(
    `update libraries set change_seq = change_seq + 1, labels_seq = labels_seq + 1
     where id in (select i.library_id from items i where i.labels <> '{}' and i.labels @> array[?::int])`,
    [label],
  );
}
