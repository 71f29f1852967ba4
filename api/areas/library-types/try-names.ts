import { extensionsOf } from '#platform/media-extensions.ts';
import type { Base } from './bases.ts';
import type { Tried } from './library-types.schemas.ts';
import type { TypeRules } from './library-types.store.ts';
import { readerOf } from './naming/rules.ts';

/** Extensions of the files that become items of a type; an empty set is every extension. */
export function acceptedExtensions(base: string, own: readonly string[]): ReadonlySet<string> {
  return own.length > 0 ? new Set(own) : extensionsOf(base);
}

/** What the type would make of each path. No file is read. */
export function tryNames(base: Base, { files, levels, naming }: TypeRules, paths: readonly string[]): Tried[] {
  const accepted = acceptedExtensions(base, files.extensions);
  const read = readerOf(naming, accepted);
  const itemType = levels.at(-1)?.itemType;
  return paths.map((path) => {
    const extension = /\.([^./]*)$/.exec(path)?.[1]?.toLowerCase() ?? '';
    if (accepted.size > 0 && !accepted.has(extension)) return { path, fields: {} };
    const fit = read(path);
    return { path, ...(itemType && { itemType }), ...(fit && { rule: fit.rule }), fields: { ...fit?.values } };
  });
}
