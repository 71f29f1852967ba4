import { extrasFolder, extraTitle } from '../names/extras.ts';
import { kindOf, splitName } from '../names/kinds.ts';
import { type Film, groupFilms } from '../names/movies.ts';
import { titleKey } from '../names/title.ts';
import type { Draft, Grouped, Grouping, ItemKey } from './draft.ts';
import { artworkOf, draftFile, inside } from './local.ts';

/** Films of one directory. */
export function groupMovies(grouping: Grouping): Grouped {
  const disc = discOf(grouping);
  if (disc) return disc;
  const extras = extrasOf(grouping);
  if (extras) return extras;
  const videos = grouping.files.filter((file) => kindOf(file.name) === 'video').map((file) => file.name);
  const groups = groupFilms({ folder: folderOf(grouping.within), videos });
  const films = groups.films.map((film) => filmDraft(grouping, film, groups.films.length === 1));
  const drafts = groups.extras.map((extra): Draft => {
    const owner = films[extra.film];
    const of: ItemKey | { directory: string } = owner ?? { directory: grouping.directory };
    return extraDraft(grouping, {
      name: extra.name,
      kind: extra.kind,
      title: extra.title,
      of: 'key' in of ? { type: of.type, key: of.key } : of,
    });
  });
  return { drafts: [...films, ...drafts], unrecognised: [] };
}

const SCRAMBLED = /^(?=[^\d]{0,80}\d)[a-z\d-]{20,80}$/i;

/** The folder that names the films: a scrambled one names none. */
function folderOf(within: readonly string[]): string {
  const folder = within.at(-1) ?? '';
  return SCRAMBLED.test(folder) ? (within.at(-2) ?? folder) : folder;
}

function filmDraft(grouping: Grouping, film: Film, alone: boolean): Draft {
  const { named } = film;
  const [first] = film.files;
  const shared = alone && grouping.within.length > 0;
  return {
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

/** The same film in two folders is one item with two versions, unless the library says otherwise or the name tells too little. */
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

/** An extra is known by its path. */
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

/** All of a folder called `Trailers`, `Extras` and so on, and of what lies below, belongs to the film of the folder it lies in. */
function extrasOf(grouping: Grouping): Grouped | undefined {
  const at = grouping.within.findIndex((name, i) => i > 0 && extrasFolder(name) !== undefined);
  if (at < 0) return undefined;
  const up = grouping.within.length - at;
  const directory = grouping.directory.split('/').slice(0, -up).join('/');
  const kind = extrasFolder(grouping.within[at] ?? '') ?? 'other';
  const videos = grouping.files.filter((file) => kindOf(file.name) === 'video');
  return {
    drafts: videos.map(({ name }) => extraDraft(grouping, { name, kind, title: extraTitle(name), of: { directory } })),
    unrecognised: [],
  };
}

/** A DVD or Blu-ray folder is one file: its longest title, the largest file of it. */
function discOf(grouping: Grouping): Grouped | undefined {
  const at = grouping.within.findIndex((name) => /^(?:VIDEO_TS|BDMV)$/i.test(name));
  if (at < 0) return undefined;
  const inner = grouping.within.slice(at).join('/').toUpperCase();
  const videos = grouping.files.filter((file) => kindOf(file.name) === 'video');
  const largest = videos.toSorted((a, b) => b.size - a.size)[0];
  if (!largest || (inner !== 'VIDEO_TS' && inner !== 'BDMV/STREAM')) return { drafts: [], unrecognised: [] };
  const folder = grouping.within[at - 1] ?? '';
  const [film] = groupFilms({
    folder,
    videos: [`${folder || splitName(largest.name).stem}.${splitName(largest.name).extension}`],
  }).films;
  if (!film) return { drafts: [], unrecognised: [] };
  const draft = filmDraft(
    { ...grouping, files: [largest] },
    { ...film, files: [{ name: largest.name, rank: 0 }] },
    true,
  );
  return { drafts: [draft], unrecognised: [] };
}
