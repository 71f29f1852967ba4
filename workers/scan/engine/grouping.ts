import type { Grouping } from '../group/draft.ts';
import type { ScannedFolder } from '../store/context.ts';
import type { WalkedFile } from '../walk/types.ts';
import type { Scan } from './scan.ts';

/** A directory as the rules of its library see it. */
export function groupingOf(
  { library: { type, settings } }: Pick<Scan, 'library'>,
  folder: ScannedFolder,
  { path, files }: { path: string; files: readonly WalkedFile[] },
): Grouping {
  const within = path === folder.path ? [] : path.slice(folder.path === '' ? 0 : folder.path.length + 1).split('/');
  return { directory: path, within, files, library: { type, mergeVersions: settings.mergeVersions } };
}
