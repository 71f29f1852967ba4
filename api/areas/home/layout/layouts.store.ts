import type { ManagedBy } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { HomeLayout, LayoutRow } from './layout.schemas.ts';

/** The stored part of a layout. */
export interface LayoutDocument {
  rows: LayoutRow[];
  hiddenLibraryIds: string[];
  hero: HomeLayout['hero'];
}

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'home_layouts.document': LayoutDocument;
    'home_layouts.managed_by': ManagedBy | null;
  }
}

export type LayoutRecord = Row<'home_layouts'>;

/** The stored layout of a profile; of the server for null. */
export async function findLayout(db: Db, profileId: string | null): Promise<LayoutRecord | undefined> {
  return db('home_layouts').where({ profile_id: profileId }).first();
}

/** Both layouts, in one read. */
export async function findLayouts(
  db: Db,
  profileId: string | null,
): Promise<{ own: LayoutRecord | undefined; server: LayoutRecord | undefined }> {
  const rows = await db('home_layouts').where({ profile_id: profileId }).orWhereNull('profile_id');
  return {
    own: rows.find((row) => row.profile_id !== null),
    server: rows.find((row) => row.profile_id === null),
  };
}

/** Makes changes of one layout wait for each other, also of one that is not stored yet. */
export async function lockLayout(db: Db, profileId: string | null): Promise<void> {
  await db.raw(`select pg_advisory_xact_lock(hashtextextended('home:' || ?, 0))`, [profileId ?? 'server']);
}

export interface LayoutWrite {
  profileId: string | null;
  document: LayoutDocument;
  managedBy: ManagedBy | null;
}

export async function writeLayout(db: Db, { profileId, document, managedBy }: LayoutWrite): Promise<void> {
  const content = {
    document: JSON.stringify(document),
    managed_by: managedBy && JSON.stringify(managedBy),
    updated_at: new Date(),
  };
  await db('home_layouts')
    .insert({ id: newId(), profile_id: profileId, ...content })
    .onConflict('profile_id')
    .merge({ ...content, revision: db.raw('home_layouts.revision + 1') });
}

export async function deleteLayout(db: Db, profileId: string | null): Promise<void> {
  await db('home_layouts').where({ profile_id: profileId }).delete();
}
