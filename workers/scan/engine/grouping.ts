import { Breath } from '../breath.ts';
import type { Draft, Grouping } from '../group/draft.ts';
import { draftsOf } from '../group/index.ts';
import type { ScannedFolder } from '../store/context.ts';
import type { WalkedFile } from '../walk/types.ts';
import type { Inside } from './early.ts';
import type { Scan } from './scan.ts';

/** A directory as input for the grouping rules of its library. */
export function groupingOf(
  { library: { type, settings, own }, work }: Pick<Scan, 'library' | 'work'>,
  folder: ScannedFolder,
  { path, files, inside }: { path: string; files: readonly WalkedFile[]; inside?: Inside | undefined },
): Grouping {
  const within = path === folder.path ? [] : path.slice(folder.path === '' ? 0 : folder.path.length + 1).split('/');
  const library = { type, mergeVersions: settings.mergeVersions && own?.files.versions !== false, own };
  const timeZone = work.settings.get('server.timeZone');
  return { directory: path, within, files, library, timeZone, ...(inside && { inside }) };
}

/**
 * The items of a directory, without holding the event loop for all of them. Returns the videos whose names contain no
 * place in the library.
 */
export async function* groupSlowly(grouping: Grouping): AsyncGenerator<Draft, string[], undefined> {
  const breath = new Breath();
  const steps = draftsOf(grouping);
  let step = steps.next();
  for (; !step.done; step = steps.next()) {
    if (breath.isDue) await breath.take();
    if (step.value) yield step.value;
  }
  return step.value;
}
