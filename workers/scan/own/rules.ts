import { topTypesOf } from '#areas/items/public.ts';
import { acceptedExtensions, type Reader, readerOf, type TypeRules } from '#areas/library-types/public.ts';
import { extensionsOf } from '#platform/media-extensions.ts';
import type { OwnLevel } from '#platform/own-types.ts';

/** The rules of an owner-made type, as a scan keeps them from its begin to its end. */
export interface KeptRules extends Pick<TypeRules, 'files' | 'naming'> {
  base: string;
  /** Names of the levels, from the top. */
  names: readonly string[];
  levels: readonly OwnLevel[];
  /** Rises with each change of files or naming. */
  version: number;
}

/** The same, ready to be applied to a listing. */
export interface OwnRules extends Pick<KeptRules, 'files' | 'levels' | 'names' | 'version'> {
  /** Reads paths inside the library's folder; undefined for a type that is named like its base. */
  read: Reader | undefined;
  /** Stored types that the library lists. */
  tops: readonly string[];
  /** Globs that its libraries pass over, its foreign extensions among them. */
  ignore: readonly string[];
}

export function compileRules(kept: KeptRules, isNamedLikeBase: boolean): OwnRules {
  const { base, files, naming, levels, names, version } = kept;
  const accepted = acceptedExtensions(base, files.extensions);
  const foreign = files.extensions.length === 0 ? [] : [...extensionsOf(base)].filter((one) => !accepted.has(one));
  return {
    ...{ files, levels, names, version },
    read: isNamedLikeBase ? undefined : readerOf(naming, accepted),
    tops: topTypesOf({ type: base, own_type: { base, levels } }),
    ignore: [...files.ignore, ...foreign.map((extension) => `*.${extension}`)],
  };
}
