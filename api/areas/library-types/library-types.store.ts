import { conflict } from '#kernel/errors.ts';
import type { ManagedBy } from '#platform/config.ts';
import { breaks, type Db } from '#platform/db.ts';
import type { OwnLevel } from '#platform/own-types.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Base } from './bases.ts';
import type { Analyses, FileRules, NamingRule, TypeLevel, TypeViews } from './library-types.schemas.ts';

/** What a type says about files, items and views. */
export interface TypeRules {
  levels: TypeLevel[];
  files: FileRules;
  naming: NamingRule[];
  agents: string[];
  fieldKeys: string[];
  analyses: Analyses;
  views: TypeViews;
}

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'library_types.base': Base;
    'library_types.rules': TypeRules;
    'library_types.item_levels': OwnLevel[];
  }
}

export const MOST_TYPES = 50;

export type TypeRow = Row<'library_types'>;

/** All own types by name. */
export async function listTypeRows(db: Db): Promise<TypeRow[]> {
  return db('library_types').orderByRaw('lower(name), key').select('*');
}

export async function findTypeRow(db: Db, key: string): Promise<TypeRow | undefined> {
  return db('library_types').where({ key }).first();
}

/** The row with a lock until the transaction ends. */
export async function lockTypeRow(db: Db, key: string): Promise<TypeRow | undefined> {
  return db('library_types').where({ key }).forUpdate().first();
}

export interface TypeContent {
  name: string;
  plural: string;
  description: string | null;
  icon_id: string | null;
  rules: TypeRules;
  item_levels: readonly OwnLevel[];
}

const columnsOf = ({ rules, item_levels: levels, ...same }: TypeContent) => ({
  ...same,
  rules: JSON.stringify(rules),
  item_levels: JSON.stringify(levels),
});

/** Throws 409 `duplicate-key`, `too-many`. */
export async function insertType(
  db: Db,
  { key, base, content, managedBy }: { key: string; base: Base; content: TypeContent; managedBy: ManagedBy | null },
): Promise<void> {
  await db.raw(`select pg_advisory_xact_lock(hashtext('foyer.library-types'))`);
  const [counted] = await db('library_types').select<{ n: number }[]>(db.raw('count(*)::int as n'));
  const managed = managedBy && JSON.stringify(managedBy);
  try {
    await db('library_types').insert({ key, base, ...columnsOf(content), managed_by: managed });
  } catch (error) {
    if (breaks(error, 'library_types_pkey')) throw conflict('duplicate-key', 'There is a type of this key');
    throw error;
  }
  if ((counted?.n ?? 0) >= MOST_TYPES) throw conflict('too-many', `A server has at most ${MOST_TYPES} own types`);
}

/** With `reread`, the next full scan of each library of the type reads every name again. */
export async function writeType(
  db: Db,
  key: string,
  { content, reread }: { content: TypeContent; reread: boolean },
): Promise<void> {
  await db('library_types')
    .where({ key })
    .update({
      ...columnsOf(content),
      revision: db.raw('revision + 1'),
      ...(reread && { rules_version: db.raw('rules_version + 1') }),
      updated_at: new Date(),
    });
}

export async function removeType(db: Db, key: string): Promise<void> {
  await db('library_types').where({ key }).delete();
}
