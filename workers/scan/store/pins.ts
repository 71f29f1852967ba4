import type { Draft, DraftFile } from '../group/draft.ts';
import type { Writing } from './context.ts';
import { findStaying, type IsGone } from './heirs.ts';
import { nameOf } from './item-rows.ts';
import type { KnownFile } from './known.ts';

/** A file that stays in the item that a person put it into, whatever its name. */
export interface PinnedFile {
  draft: Draft;
  file: DraftFile;
  itemId: string;
}

interface Found {
  drafts: readonly Draft[];
  /** Items with the drafts' keys, and those that drafts only bring files to, by `nameOf`. */
  existing: ReadonlyMap<string, string>;
  merged: ReadonlyMap<string, string>;
}

interface Asking extends Found {
  known: ReadonlyMap<string, KnownFile>;
  isGone: IsGone;
}

/** The drafts without the files that belong to other items, and these files. */
export interface Kept extends Found {
  apart: PinnedFile[];
}

/**
 * Leaves files in the items that persons put them into. An item whose files are all of a draft that has no item takes its key
 * over, and is described by it from then on; this ends a merge that brought the files of that key to another item.
 */
export async function keepPins(writing: Writing, asking: Asking): Promise<Kept> {
  const { drafts, existing, merged } = asking;
  const pinned = pinnedDrafts(writing.library.id, asking);
  if (pinned.length === 0) return { drafts, existing, merged, apart: [] };
  const heirs = await findSuccessors(writing, asking, pinned);
  await endMerges(
    writing,
    pinned.filter(({ draft }) => heirs.has(nameOf(draft))).map(({ draft }) => draft),
  );
  const items = new Map([...existing, ...heirs]);
  const apart = pinned.flatMap(({ draft, files }) => {
    const own = items.get(nameOf(draft));
    return files.flatMap(({ file, itemId }) => (itemId === own ? [] : [{ draft, file, itemId }]));
  });
  const rest = withoutFiles(drafts, new Set(apart.map(({ file }) => file)));
  const left = new Set(rest.map(nameOf));
  // extras of a film whose only file is elsewhere belong to the item of that file
  const moved = apart.flatMap(({ draft, itemId }): [string, string][] =>
    left.has(nameOf(draft)) ? [] : [[nameOf(draft), itemId]],
  );
  return {
    drafts: rest,
    existing: new Map([...moved, ...items]),
    merged: new Map([...merged].filter(([name]) => !heirs.has(name))),
    apart,
  };
}

interface PinnedDraft {
  draft: Draft;
  files: { file: DraftFile; itemId: string }[];
  /** The only item of its known files. */
  only: string | undefined;
}

function pinnedDrafts(libraryId: string, { drafts, known }: Asking): PinnedDraft[] {
  return drafts.flatMap((draft) => {
    const rows = draft.files.flatMap((file) => {
      const row = known.get(file.path);
      return row ? [{ file, row }] : [];
    });
    const pinned = rows.filter(({ row }) => row.pinned_in === libraryId);
    if (pinned.length === 0) return [];
    const items = new Set(pinned.map(({ row }) => row.item_id));
    const isWhole = pinned.length === rows.length && items.size === 1;
    const fits = pinned.every(({ row }) => row.item_type === draft.type) && !draft.extra;
    const files = pinned.map(({ file, row }) => ({ file, itemId: row.item_id }));
    return [{ draft, files, only: isWhole && fits ? [...items][0] : undefined }];
  });
}

/** The items that take over keys of drafts, by `nameOf`: each has no draft of its own and keeps no other file. */
async function findSuccessors(
  { db }: Writing,
  { drafts, known, existing, merged, isGone }: Asking,
  pinned: readonly PinnedDraft[],
): Promise<Map<string, string>> {
  const taken = new Set(existing.values());
  const heirs = new Map<string, string>();
  for (const { draft, only } of pinned) {
    const name = nameOf(draft);
    if (only === undefined || taken.has(only) || (existing.has(name) && !merged.has(name))) continue;
    taken.add(only);
    heirs.set(name, only);
  }
  const placed = drafts.flatMap((draft) => draft.files.flatMap((file) => known.get(file.path)?.id ?? []));
  const staying = await findStaying(db, { ids: [...heirs.values()], placed, isGone });
  return new Map([...heirs].filter(([, id]) => !staying.has(id)));
}

async function endMerges({ db, library }: Writing, drafts: readonly Draft[]): Promise<void> {
  for (const { type, key } of drafts)
    await db('merged_keys').where({ library_id: library.id, type, identity_key: key }).delete();
}

/** Drafts without these files. Containers that hold nothing now are only described when they exist. */
function withoutFiles(drafts: readonly Draft[], gone: ReadonlySet<DraftFile>): Draft[] {
  const kept = drafts.flatMap((draft) => {
    const files = draft.files.filter((file) => !gone.has(file));
    if (files.length === draft.files.length) return [draft];
    return files.length > 0 ? [{ ...draft, files }] : [];
  });
  const held = kept.filter(({ files }) => files.length > 0);
  const needed = new Set(
    held.flatMap(({ parent, grandparent, extra }) => [
      ...[parent?.key, grandparent?.key],
      ...(extra && 'key' in extra.of ? [extra.of.key] : []),
    ]),
  );
  return kept.map((draft) =>
    draft.files.length > 0 || needed.has(draft.key) ? draft : { ...draft, onlyKnown: true as const },
  );
}
