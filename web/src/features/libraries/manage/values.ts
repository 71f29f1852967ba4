// The values that the editor of a library changes, also while another admin changes the same library.
import type { Library } from 'foyer-client';
import type { Folder, LibraryChanges } from './changes.ts';

export interface Values extends Pick<Library['settings'], 'saveNfo' | 'saveArtwork' | 'fileDeletion'> {
  name: string;
  /** Id of an icon. */
  icon: string | null;
  folders: readonly Folder[];
}

const SETTINGS = ['saveNfo', 'saveArtwork', 'fileDeletion'] as const;
const TEXTS = ['name', 'icon'] as const;
export type Text = (typeof TEXTS)[number];

export const valuesOf = ({ name, icon, folders, settings }: Library): Values => ({
  ...{ name, icon, folders: folders.map((one) => ({ ...one, path: one.path ?? '' })) },
  ...{ saveNfo: settings.saveNfo, saveArtwork: settings.saveArtwork, fileDeletion: settings.fileDeletion },
});

const keyOf = ({ storageId, path }: Folder): string => `${storageId} ${path}`;

/** The folders of one list that the other does not have. */
function without(folders: readonly Folder[], others: readonly Folder[]): Folder[] {
  const keys = new Set(others.map(keyOf));
  return folders.filter((one) => !keys.has(keyOf(one)));
}

const areSame = (some: readonly Folder[], others: readonly Folder[]): boolean =>
  some.length === others.length && without(some, others).length === 0;

/** The body of the change; empty when nothing changed. */
export function changesOf(base: Values, mine: Values): LibraryChanges {
  const settings = Object.fromEntries(SETTINGS.filter((key) => mine[key] !== base[key]).map((key) => [key, mine[key]]));
  return {
    ...(mine.name !== base.name && { name: mine.name }),
    ...(mine.icon !== base.icon && { icon: mine.icon }),
    ...(!areSame(mine.folders, base.folders) && { folders: mine.folders }),
    ...(Object.keys(settings).length > 0 && { settings }),
  };
}

/**
 * The changes of a person, on a library that somebody else changed meanwhile. Both lists of folders are kept: what either added or
 * removed. Conflicts are texts to which both gave another value; the person's own stands in `values`.
 */
export function rebased(base: Values, mine: Values, now: Values): { values: Values; conflicts: Text[] } {
  const pick = <K extends keyof Values>(key: K): Values[K] => (mine[key] === base[key] ? now[key] : mine[key]);
  const added = without(mine.folders, base.folders);
  const kept = without(now.folders, without(base.folders, mine.folders));
  const values = {
    ...{ name: pick('name'), icon: pick('icon') },
    ...{ saveNfo: pick('saveNfo'), saveArtwork: pick('saveArtwork'), fileDeletion: pick('fileDeletion') },
    folders: [...kept, ...without(added, kept)],
  };
  const conflicts = TEXTS.filter((key) => now[key] !== base[key] && values[key] !== now[key]);
  return { values, conflicts };
}
