import { isDeepStrictEqual } from 'node:util';
import { builtInOf } from '#areas/library-types/public.ts';
import type { Db } from '#platform/db.ts';
import type { OwnType } from '#platform/own-types.ts';
import { compileRules, type KeptRules, type OwnRules } from './rules.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'scans.type_rules': KeptRules | null;
  }
}

interface Typed {
  type: string;
  own_type: OwnType | null;
}

/**
 * The rules of a library's owner-made type; undefined for a built-in one. The scan keeps those of its begin, so that a worker
 * that resumes it ends by the same.
 */
export async function ownRules(
  db: Db,
  library: Typed,
  scan: { id: string; type_rules: KeptRules | null },
): Promise<OwnRules | undefined> {
  if (!library.own_type) return undefined;
  const kept = scan.type_rules ?? (await rulesNow(db, library, library.own_type));
  if (!scan.type_rules)
    await db('scans')
      .where({ id: scan.id })
      .update({ type_rules: JSON.stringify(kept) });
  return compileRules(kept, isDeepStrictEqual(kept.naming, builtInOf(kept.base)?.naming));
}

async function rulesNow(db: Db, { type }: Typed, { base, levels }: OwnType): Promise<KeptRules> {
  const row = await db('library_types').where({ key: type }).first('rules', 'rules_version');
  const rules = row?.rules ?? builtInOf(base);
  if (!rules) throw new Error(`no rules of type ${type}`);
  const names = rules.levels.map(({ name }) => name);
  return { base, levels, names, files: rules.files, naming: rules.naming, version: row?.rules_version ?? 1 };
}
