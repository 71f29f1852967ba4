import { invalid } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import type { OwnType } from '#platform/own-types.ts';
import type { LibrarySettings } from './libraries.schemas.ts';
import { defaultSettings } from './settings.ts';

interface TypeOfLibrary {
  type: OwnType;
  /** Settings that a new library of the type begins with. */
  settings: Partial<LibrarySettings>;
}

/** What a new library keeps of its type, with a lock on the type; undefined for a built-in one. Throws 400 `unknown_type`. */
export async function ownTypeOf(db: Db, key: string): Promise<TypeOfLibrary | undefined> {
  if (key === 'files') return { type: FILES, settings: {} };
  if (!key.startsWith('custom:')) return undefined;
  const row = await db('library_types').where({ key }).forShare().first('base', 'rules', 'item_levels');
  if (!row) throw invalid(['body', 'type'], 'unknown_type', 'there is no such type');
  const { agents, analyses } = row.rules;
  const { sonic: _sonic, ...settings } = analyses;
  const { folderView } = defaultSettings(row.base, { language: 'en', country: null });
  return {
    type: { base: row.base, levels: row.item_levels },
    settings: { ...settings, folderView, agents: agents as LibrarySettings['agents'] },
  };
}

/** Item types of plain files have a name of their own. */
const FILES: OwnType = { base: 'files', levels: [{ bases: ['file'], itemType: 'custom:file' }] };
