import { extrasFolder, extraTitle } from '../names/extras.ts';
import { kindOf, splitName } from '../names/kinds.ts';
import { type Film, filmSteps, groupFilms } from '../names/movies.ts';
import { titleKey } from '../names/title.ts';
import type { Draft, Drafting, Grouping, ItemKey } from './draft.ts';
import { artworkOf, draftFile, inside } from './local.ts';
import { mergeDrafts } from './merge.ts';

/** Films of one directory. */
export function* groupMovies(grouping: Grouping): Drafting {
  const disc = discOf(grouping);
  if (disc) return yield* disc;
  const extras = extrasOf(grouping);
  if (extras) return yield* extras;
  const videos = grouping.files.filter((file) => kindOf(file.name) === 'video').map((file) => file.name);
  const groups = yield* filmSteps({ folder: folderOf(grouping.within), videos });
  const byKey = new Map<string, Film[]>();
  for (const film of groups.films) {
    const key = filmKey(grouping, film.named);
    const same = byKey.get(key);
    if (same) same.push(film);
    else byKey.set(key, [film]);
    yield;
  }
  for (const same of byKey.values())
    yield* mergeDrafts(same.map((film) => filmDraft(grouping, film, groups.films.length === 1)));
  for (const { name, kind, title, film } of groups.extras) {
    const key = filmKey(grouping, (groups.films[film] as Film).named);
    yield extraDraft(grouping, { name, kind, title, of: { type: 'movie', key } });
  }
  return [];
}

const SCRAMBLED = /^(?=[^\d]{0,80}\d)[a-z\d-]{20,80}$/i;

/** The folder that names the films; a scrambled name is not used. */
function folderOf(within: readonly string[]): string {
  const folder = within.at(-1) ?? '';
  return SCRAMBLED.test(folder) ? (within.at(-2) ?? folder) : folder;
}

function filmDraft(grouping: Grouping, film: Film, alone: boolean): Draft {
  const { named } = film;
  const [first] = film.files;
  const shared = alone && grouping.within.length > 0;
  return {
    ...(shared && { alone: true }),
    type: 'movie',
    key: filmKey(grouping, named),
    top: true,
    title: named.title,
    ...(named.year === undefined ? {} : { year: named.year }),
    ids: named.ids,
    artwork: first ? artworkOf(grouping, first.name, shared) : {},
    files: film.files.map(({ name, ...more }) => draftFile(grouping, name, more)),
  };
}

/**
 * The same film in two folders is one item with two versions, unless the library's settings differ or the name is too
 * vague.
 */
function filmKey({ library, directory }: Grouping, { title, year }: Film['named']): string {
  const key = `${titleKey(title)}|${year ?? ''}`;
  return library.mergeVersions && year !== undefined ? key : `${key}|@${directory}`;
}

interface Extra {
  name: string;
  kind: string;
  title: string;
  of: ItemKey | { directory: string };
}

/** An extra is identified by its path. */
export function extraDraft(grouping: Grouping, { name, kind, title, of }: Extra): Draft {
  return {
    type: 'video',
    key: `x:${inside(grouping.directory, name)}`,
    top: false,
    title,
    ids: {},
    artwork: artworkOf(grouping, name, false),
    files: [draftFile(grouping, name, { rank: 0 })],
    extra: { kind, of },
  };
}

/** Everything in and below a folder such as `Trailers` or `Extras` belongs to the film of the parent folder. */
function extrasOf(grouping: Grouping): Drafting | undefined {
  const at = grouping.within.findIndex((name, i) => i > 0 && extrasFolder(name) !== undefined);
  if (at < 0) return undefined;
  const up = grouping.within.length - at;
  const directory = grouping.directory.split('/').slice(0, -up).join('/');
  const kind = extrasFolder(grouping.within[at] ?? '') ?? 'other';
  return extrasIn(grouping, { kind, directory });
}

function* extrasIn(grouping: Grouping, { kind, directory }: { kind: string; directory: string }): Drafting {
  for (const { name } of grouping.files)
    yield kindOf(name) === 'video'
      ? extraDraft(grouping, { name, kind, title: extraTitle(name), of: { directory } })
      : undefined;
  return [];
}

/** A DVD or Blu-ray folder is one file: its longest title, the largest file in it. */
function discOf(grouping: Grouping): Drafting | undefined {
  const at = grouping.within.findIndex((name) => /^(?:VIDEO_TS|BDMV)$/i.test(name));
  return at < 0 ? undefined : discIn(grouping, at);
}

function* discIn(grouping: Grouping, at: number): Drafting {
  const inner = grouping.within.slice(at).join('/').toUpperCase();
  const videos = grouping.files.filter((file) => kindOf(file.name) === 'video');
  const largest = videos.toSorted((a, b) => b.size - a.size)[0];
  if (!largest || (inner !== 'VIDEO_TS' && inner !== 'BDMV/STREAM')) return [];
  const folder = grouping.within[at - 1] ?? '';
  const [film] = groupFilms({
    folder,
    videos: [`${folder || splitName(largest.name).stem}.${splitName(largest.name).extension}`],
  }).films;
  if (film)
    yield filmDraft({ ...grouping, files: [largest] }, { ...film, files: [{ name: largest.name, rank: 0 }] }, true);
  return [];
}
