import type { Draft } from './draft.ts';

/**
 * Merges drafts of several directories about one item: a show in the folder of each season, a film's versions in two
 * folders.
 */
export function mergeDrafts(drafts: readonly Draft[]): Draft[] {
  const merged = new Map<string, Draft>();
  for (const draft of drafts) {
    const name = `${draft.type} ${draft.key}`;
    const before = merged.get(name);
    merged.set(name, before ? joined(before, draft) : draft);
  }
  return [...merged.values()];
}

function joined(one: Draft, other: Draft): Draft {
  const { onlyKnown, ...both } = { ...other, ...one };
  const nfo = one.nfo ?? other.nfo;
  return {
    ...both,
    ids: { ...other.ids, ...one.ids },
    artwork: { ...other.artwork, ...one.artwork },
    files: [...one.files, ...other.files],
    ...(nfo ? { nfo } : {}),
    ...(onlyKnown && one.onlyKnown && other.onlyKnown ? { onlyKnown } : {}),
  };
}
