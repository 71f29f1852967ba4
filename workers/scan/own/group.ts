import type { Values } from '#areas/library-types/public.ts';
import type { Drafting, Grouping } from '../group/draft.ts';
import { kindOf } from '../names/kinds.ts';
import { isMedia } from '../names/media.ts';
import type { WalkedFile } from '../walk/types.ts';
import { type NamedFile, named } from './named.ts';
import { reshape } from './reshape.ts';
import type { OwnRules } from './rules.ts';

/**
 * Items of one directory by an owner-made type: files that a naming rule fits by that rule, all others as in the base. Levels
 * that the type leaves out are dropped.
 */
export function* groupOwn(grouping: Grouping, own: OwnRules, base: (grouping: Grouping) => Drafting): Drafting {
  const files = grouping.files.filter((file) => isKept(grouping, own, file));
  const fits = new Map<string, NamedFile>();
  for (const file of files) {
    yield;
    const values = isMedia(grouping.library.type, file.name) ? readName(grouping, own, file.name) : undefined;
    if (values) fits.set(file.name, { file, values });
  }
  const kept = { ...grouping, files };
  for (const draft of named(kept, own, [...fits.values()])) yield* reshape(draft, own);
  const steps = base({ ...grouping, files: files.filter(({ name }) => !fits.has(name)) });
  let step = steps.next();
  for (; !step.done; step = steps.next()) {
    if (step.value) yield* reshape(step.value, own);
    else yield;
  }
  return step.value;
}

function readName({ within }: Grouping, { read }: OwnRules, name: string): Values | undefined {
  return read?.([...within, name].join('/'))?.values;
}

const SIDECARS: Readonly<Record<string, string>> = {
  ...{ subtitle: 'subtitle', audio: 'subtitle' },
  ...{ picture: 'artwork', nfo: 'nfo', lyrics: 'lyrics' },
};

function isKept({ library, inside }: Grouping, { files }: OwnRules, { name, size }: WalkedFile): boolean {
  if (!isMedia(library.type, name)) {
    const sidecar = SIDECARS[kindOf(name)];
    return sidecar === undefined || (files.sidecars as readonly string[]).includes(sidecar);
  }
  const { minBytes = 0, minDurationMs = 0 } = files;
  return size >= minBytes && (inside?.get(name)?.durationMs ?? minDurationMs) >= minDurationMs;
}
