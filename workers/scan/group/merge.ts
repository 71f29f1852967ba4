import type { Draft } from './draft.ts';

/** Drafts of several directories that speak of one item become one: a show in each of its seasons' folders, a film's versions in two. */
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
