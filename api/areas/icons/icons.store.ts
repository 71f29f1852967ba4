import { conflict, notFound } from '#kernel/errors.ts';
import type { ManagedBy } from '#platform/config.ts';
import { breaks, type Db, existing } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { IconPart } from '#platform/pictures.ts';
import type { Row } from '#platform/typed-query.ts';
import { builtInIcon, builtInSet, builtInSets } from './built-in/built-in.ts';
import type { IconSlot } from './built-in/slots.ts';
import type { IconStyle, SourceKind } from './icons.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'icon_sets.managed_by': ManagedBy;
    'icon_sets.style': IconStyle;
    'icons.slot': IconSlot;
    'icons.source_kind': SourceKind;
    'icons.parts': IconPart[];
  }
}

export type SetRow = Row<'icon_sets'>;
export type IconRow = Row<'icons'>;

export const MOST_SETS = 50;
export const MOST_ICONS = 2000;

/** Serializes changes of sets and icons: each is checked against the others. */
export async function lockIcons(db: Db): Promise<void> {
  await db.raw(`select pg_advisory_xact_lock(hashtext('foyer.icons'))`);
}

/** All own sets by name. */
export async function listSetRows(db: Db): Promise<SetRow[]> {
  return db('icon_sets').orderBy('name_folded').orderBy('id').select('*');
}

/** An own set. Throws NOT_FOUND, 409 `built-in`. */
export async function changeableSet(db: Db, id: string): Promise<SetRow> {
  if (builtInSet(id)) throw conflict('built-in', 'A built-in set cannot be changed: make a copy of it');
  const row = await db('icon_sets').where({ id }).first();
  if (!row) throw notFound();
  return row;
}

/** An own icon. Throws NOT_FOUND, 409 `built-in`. */
export async function changeableIcon(db: Db, id: string): Promise<IconRow> {
  if (builtInIcon(id)) throw conflict('built-in', 'A built-in icon cannot be changed: make a copy of its set');
  const row = await db('icons').where({ id }).first();
  if (!row) throw notFound();
  return row;
}

export async function activeSetId(db: Db): Promise<string> {
  const { active_id: id } = existing(await db('icon_choice').first());
  return id;
}

export async function writeActiveSet(db: Db, id: string): Promise<void> {
  await db('icon_choice').update({ active_id: id, revision: db.raw('revision + 1') });
}

export type SetContent = Pick<SetRow, 'name' | 'description' | 'author' | 'license' | 'style' | 'fallback_id'>;

const columnsOf = (db: Db, content: SetContent) => ({
  ...content,
  name_folded: db.raw('foyer_fold(?)', [content.name]),
});

/** Throws 409 `duplicate-name`. */
export async function insertSet(db: Db, content: SetContent, managedBy: ManagedBy | null): Promise<string> {
  const id = newId();
  const managed = managedBy && JSON.stringify(managedBy);
  await named(db, content.name, () => db('icon_sets').insert({ id, ...columnsOf(db, content), managed_by: managed }));
  return id;
}

/** Throws 409 `duplicate-name`. */
export async function writeSet(db: Db, id: string, content: SetContent): Promise<void> {
  await named(db, content.name, () => db('icon_sets').where({ id }).update(columnsOf(db, content)));
}

/** Throws 409 `duplicate-name` for the name of a built-in set, or of another one. */
async function named(db: Db, name: string, write: () => Promise<unknown>): Promise<void> {
  const taken = conflict('duplicate-name', 'There is a set of this name');
  const found = await db.raw<{ rows: { taken: boolean }[] }>(
    'select exists (select from unnest(?::text[]) n where foyer_fold(n) = foyer_fold(?)) as taken',
    [builtInSets.map((set) => set.name), name],
  );
  if (found.rows[0]?.taken) throw taken;
  try {
    await write();
  } catch (error) {
    throw breaks(error, 'icon_sets_name_folded_key') ? taken : error;
  }
}

/** Counts a change of a set or of its icons. */
export async function touchSet(db: Db, id: string, sourceSha256?: string | null): Promise<void> {
  const source = sourceSha256 === undefined ? {} : { source_sha256: sourceSha256 };
  await db('icon_sets')
    .where({ id })
    .update({ ...source, revision: db.raw('revision + 1'), updated_at: new Date() });
}

/** Deletes the set with its icons; sets that fall back to it get its own fallback. */
export async function removeSet(db: Db, { id, fallback_id: fallback }: SetRow): Promise<void> {
  await db('icon_sets')
    .where({ fallback_id: id })
    .update({ fallback_id: fallback, revision: db.raw('revision + 1'), updated_at: new Date() });
  await db('icons').where({ set_id: id }).delete();
  await db('icon_sets').where({ id }).delete();
}

export async function listIconRows(db: Db, setId: string): Promise<IconRow[]> {
  return db('icons').where({ set_id: setId }).orderBy('name').select('*');
}

export type IconContent = Omit<IconRow, 'id' | 'set_id' | 'version' | 'created_at' | 'updated_at'>;

const iconColumns = ({ parts, keywords, ...same }: Partial<IconContent>) => ({
  ...same,
  ...(keywords && { keywords }),
  ...(parts && { parts: JSON.stringify(parts) }),
});

export async function insertIcons(db: Db, setId: string, icons: readonly IconContent[]): Promise<string[]> {
  const rows = icons.map((icon) => ({ id: newId(), set_id: setId, ...icon, parts: JSON.stringify(icon.parts) }));
  if (rows.length > 0) await db('icons').insert(rows);
  return rows.map(({ id }) => id);
}

/** With `isRedrawn` the version rises. Throws 409 `duplicate-name`. */
export async function writeIcon(
  db: Db,
  id: string,
  { content, isRedrawn }: { content: Partial<IconContent>; isRedrawn: boolean },
): Promise<void> {
  const more = { updated_at: new Date(), ...(isRedrawn && { version: db.raw('version + 1') }) };
  try {
    await db('icons')
      .where({ id })
      .update({ ...iconColumns(content), ...more });
  } catch (error) {
    if (breaks(error, 'icons_name')) throw conflict('duplicate-name', 'The set has an icon of this name');
    throw error;
  }
}

/** Takes slots from the icons of a set that fill them, except from the icon `but`. */
export async function freeSlots(
  db: Db,
  { setId, slots, but }: { setId: string; slots: readonly IconSlot[]; but?: string },
): Promise<void> {
  await db('icons')
    .where({ set_id: setId })
    .whereIn('slot', slots)
    .whereNotIn('id', but === undefined ? [] : [but])
    .update({ slot: null, updated_at: new Date() });
}

/** A trigger takes them from libraries and types. */
export async function removeIcons(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db('icons').whereIn('id', ids).delete();
}

/** Whether there is such an icon, built-in or own. */
export async function iconExists(db: Db, id: string): Promise<boolean> {
  return builtInIcon(id) !== undefined || (await db('icons').where({ id }).first('id')) !== undefined;
}

/** Hashes that icons name, of the given ones. */
export async function heldIconHashes(db: Db, hashes: readonly string[]): Promise<string[]> {
  const rows = await db('icons').whereIn('hash', hashes).distinct('hash');
  return rows.flatMap(({ hash }) => hash ?? []);
}
