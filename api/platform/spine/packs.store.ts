import type { Db } from '../db.ts';
import type { Row } from '../typed-query.ts';
import type { Head } from './manifest.ts';

export type PackRow = Row<'spine_packs'>;

declare module '../column-types.ts' {
  interface ColumnTypes {
    'spine_packs.works': Record<string, number>;
    'spine_packs.sources': { name: 'wikidata' | 'musicbrainz' | 'openlibrary'; dumpedOn: string; licence: string }[];
    'spine_state.available': AvailablePack;
  }
}

/** A pack that the address of packs offers. */
export interface AvailablePack {
  name: string;
  version: string;
  sizeBytes: number;
  /** The version that a delta loads onto. */
  base?: string;
  publishedAt: string;
  url: string;
  sha256: string;
}

/** Newest first: of two packs with one work, the fields of the newer one count. */
export const listPacks = async (db: Db): Promise<PackRow[]> =>
  db('spine_packs')
    .orderBy([{ column: 'built_at', order: 'desc' }, 'id'])
    .select('*');

export const findPack = async (db: Db, match: { name: string } | { id: string }): Promise<PackRow | undefined> =>
  db('spine_packs').where(match).first('*');

export const hasPack = async (db: Db): Promise<boolean> => (await db('spine_packs').first('id')) !== undefined;

export interface NewPack {
  id: string;
  number: number;
  head: Head;
  works: Record<string, number>;
  importedBy: string | null;
}

/** Replaces the pack of its name. */
export async function putPack(db: Db, { id, number, head, works, importedBy }: NewPack): Promise<void> {
  const { manifest, sizeBytes, sha256 } = head;
  const { name, version, kinds, languages, signedBy, builtAt, sources } = manifest;
  await db('spine_packs').where({ name }).delete();
  await db('spine_packs').insert({
    ...{ id, number, name, version, kinds, languages, works: JSON.stringify(works), size_bytes: sizeBytes },
    ...{ key_id: signedBy.keyId, key_name: signedBy.name, built_at: new Date(builtAt) },
    ...{ sources: JSON.stringify(sources), sha256, imported_by: importedBy },
  });
}

export async function removePack(db: Db, id: string): Promise<void> {
  await db('spine_packs').where({ id }).delete();
}

export const readSpineState = async (db: Db): Promise<Row<'spine_state'> | undefined> => db('spine_state').first('*');

/** The import that waits or runs. In a transaction no other one is queued until its end. */
export async function openImport(db: Db): Promise<Row<'jobs'> | undefined> {
  if (db.isTransaction) await db.raw(`select pg_advisory_xact_lock(hashtext('foyer.spine'))`);
  return db('jobs').where({ kind: 'spine.import' }).whereIn('state', ['waiting', 'delayed', 'active']).first('*');
}

/** What the last check found. */
export async function noteCheck(db: Db, available: AvailablePack | null): Promise<void> {
  const found = { last_check_at: new Date(), available: available && JSON.stringify(available) };
  await db('spine_state').insert(found).onConflict('one').merge(found);
}
