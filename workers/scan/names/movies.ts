import { type ExtraFile, extraFile, extraTitle } from './extras.ts';
import { splitName } from './kinds.ts';
import { type Stack, stackSteps } from './parts.ts';
import { atOnce, type Steps } from './steps.ts';
import { isYear, tagsOf } from './tags.ts';
import { markedEdition, type Named, readName, tidy, titleKey } from './title.ts';

/** One file of a film. */
export interface FilmFile {
  name: string;
  edition?: string;
  /** Order among the versions, the preferred one first. */
  rank: number;
  part?: number;
  parts?: number;
}

export interface Film {
  named: Named;
  files: FilmFile[];
}

export interface FilmExtra {
  name: string;
  kind: string;
  title: string;
  /** Index of the film it belongs to. */
  film: number;
}

/** A folder to group: its name (empty for the library's folder) and the names of its videos. */
export interface FilmFolder {
  folder: string;
  videos: readonly string[];
}

export interface FilmGroups {
  films: Film[];
  extras: FilmExtra[];
}

/** A file, or the parts of one, with the parsed name. */
interface Single {
  stem: string;
  named: Named;
  files: Stack<string>['files'];
}

/** Groups the videos of a folder into films, versions, parts and extras. */
export function groupFilms(folder: FilmFolder): FilmGroups {
  return atOnce(filmSteps(folder));
}

/** `groupFilms` with pauses. */
export function* filmSteps({ folder, videos }: FilmFolder): Steps<FilmGroups> {
  const extras: (ExtraFile & { name: string })[] = [];
  const names: string[] = [];
  for (const name of videos) {
    const extra = extraFile(name);
    if (extra) extras.push({ name, ...extra });
    else names.push(name);
    yield;
  }
  const singles = yield* singlesOf(names);
  const one = folder !== '' && (yield* ofOneFilm(folder, singles));
  const films = one ? [filmOfFolder(folder, singles)] : yield* filmsByName(singles);
  const owned = yield* ownedOf(extras, films, folder !== '');
  const named = new Set(owned.map(({ name }) => name));
  const free = extras.filter(({ name }) => !named.has(name)).map(({ name }) => filmAlone(name));
  return { films: [...films, ...free], extras: owned };
}

function* singlesOf(names: readonly string[]): Steps<Single[]> {
  const stacks = yield* stackSteps(names, (name) => splitName(name).stem);
  const singles: Single[] = [];
  for (const { stem, files } of stacks) {
    singles.push({ stem, files, named: readName(stem) });
    yield;
  }
  return singles;
}

/** `Some Films Trilogy` and `Movies` name no film, unless a file has the same name. */
const SEVERAL =
  /^(?:movies|films|filme|videos)$|.[\s._-](?:duology|trilogy|quadrilogy|tetralogy|pentalogy|anthology|collection|box ?set)$/i;

function holdsSeveral(folder: Named, [first]: readonly Single[]): boolean {
  return SEVERAL.test(folder.title) && !sameFilm(folder, first?.named);
}

function* keysOf(singles: readonly Single[]): Steps<Set<string>> {
  const keys = new Set<string>();
  for (const { named } of singles) {
    keys.add(`${titleKey(named.title)}|${named.year ?? ''}`);
    yield;
  }
  return keys;
}

/**
 * A folder belongs to one film if its files have its name, or if only the folder has a year and contains one film's
 * files.
 */
function* ofOneFilm(folder: string, singles: readonly Single[]): Steps<boolean> {
  const named = readName(folder);
  if (singles.length === 0 || holdsSeveral(named, singles)) return false;
  const keys = yield* keysOf(singles);
  const isNamed = named.year !== undefined || Object.keys(named.ids).length > 0 || isReleased(folder);
  if (singles.length === 1 || keys.size === 1) return isNamed || sameFilm(named, singles[0]?.named);
  return singles.every(
    ({ stem, named: own }) => isVersion(stem, folder) || (named.year !== undefined && sameFilm(named, own)),
  );
}

/** A folder named like a release names the film better than a short file name. */
function isReleased(folder: string): boolean {
  return tagsOf(folder).filter(({ tag }) => tag === 'release').length > 1;
}

function sameFilm(folder: Named, file: Named | undefined): boolean {
  if (!file || titleKey(folder.title) !== titleKey(file.title)) return false;
  return folder.year === undefined || file.year === undefined || folder.year === file.year;
}

/** The part of a file name after the name of its folder; undefined if it begins otherwise. */
function behindFolder(stem: string, folder: string): string | undefined {
  const same = folder !== '' && stem.slice(0, folder.length).toLowerCase() === folder.toLowerCase();
  return same ? stem.slice(folder.length).trim() : undefined;
}

const YEARS = /[([](\d{4})[)\]]/g;

/** `Film - label`, `Film [label]` and `Film` in the folder `Film`. Another year makes it another film. */
function isVersion(stem: string, folder: string): boolean {
  const rest = behindFolder(stem, folder);
  if (rest === undefined || [...rest.matchAll(YEARS)].some(([, year = '']) => isYear(year))) return false;
  return rest === '' || /^[-[{(]/.test(rest) || (/^[._]/.test(rest) && !/^[._]\d{1,2}$/.test(rest));
}

function filmOfFolder(folder: string, singles: readonly Single[]): Film {
  const named = readName(folder);
  const [first] = singles;
  const year =
    named.year ?? (first && titleKey(first.named.title) === titleKey(named.title) ? first.named.year : undefined);
  const ids = { ...first?.named.ids, ...named.ids };
  return { named: { ...named, ids, ...(year === undefined ? {} : { year }) }, files: versionsOf(singles, folder) };
}

function* filmsByName(singles: readonly Single[]): Steps<Film[]> {
  const groups = new Map<string, Single[]>();
  for (const single of singles) {
    const { named } = single;
    const key = `${titleKey(named.title)}|${named.year ?? ''}|${JSON.stringify(named.ids)}`;
    const group = groups.get(key);
    if (group) group.push(single);
    else groups.set(key, [single]);
    yield;
  }
  const films: Film[] = [];
  for (const group of groups.values()) {
    films.push({ named: group[0]?.named ?? readName(''), files: versionsOf(group, '') });
    yield;
  }
  return films;
}

/** An extra of no existing film is a film of its own. */
function filmAlone(name: string): Film {
  const { stem } = splitName(name);
  return { named: { title: tidy(stem) || stem, ids: {} }, files: [{ name, rank: 0 }] };
}

/** Highest resolution first, then by label. The parts of a version share its label. */
function versionsOf(singles: readonly Single[], folder: string): FilmFile[] {
  const labelled = singles.map((own) => ({
    own,
    label: labelOf(own, folder),
    height: own.named.resolution ?? 0,
    name: own.files[0]?.of ?? '',
  }));
  labelled.sort((a, b) => b.height - a.height || a.label.localeCompare(b.label) || (a.name < b.name ? -1 : 1));
  return labelled.flatMap(({ own, label }, rank) => {
    const edition = label || (singles.length > 1 ? tidy(own.stem) : '');
    return own.files.map(
      ({ of: name, part }): FilmFile => ({
        name,
        rank,
        ...(edition === '' ? {} : { edition }),
        ...(part === undefined ? {} : { part, parts: own.files.length }),
      }),
    );
  });
}

/** `- label` or `[label]` after the folder's name, `{edition-…}`, or the release tags. */
function labelOf({ stem, named }: Single, folder: string): string {
  const marked = markedEdition(stem);
  if (marked) return marked;
  const rest = behindFolder(stem, folder) ?? '';
  const label = named.edition ?? (named.resolution ? `${named.resolution}p` : '');
  if (/^(?:-\s|\[|\{)/.test(rest)) return tidy(rest.replaceAll(/[[\]{}]/g, ' '));
  return label || (/^[-._]/.test(rest) && !isYear(tidy(rest)) ? tidy(rest) : '');
}

/** Assigns extras to the film in their name; in the folder of one film all belong to it. */
function* ownedOf(
  extras: readonly (ExtraFile & { name: string })[],
  films: readonly Film[],
  inFolder: boolean,
): Steps<FilmExtra[]> {
  if (extras.length === 0) return [];
  const byKey = yield* placesOf(films);
  const owned: FilmExtra[] = [];
  for (const { name, kind, of, spaced } of extras) {
    const named = readName(of);
    const key = titleKey(named.title);
    const fits = byKey.get(`${key}|${named.year ?? ''}`) ?? byKey.get(key);
    const film = fits ?? (films.length === 1 && (inFolder || !spaced) ? 0 : undefined);
    if (film !== undefined) owned.push({ name, kind, film, title: extraTitle(name, () => fits !== undefined) });
    yield;
  }
  return owned;
}

/** Indexes of films by title, and by title and year; the first of equal ones. */
function* placesOf(films: readonly Film[]): Steps<Map<string, number>> {
  const byKey = new Map<string, number>();
  for (const [i, { named }] of [...films.entries()].reverse()) {
    byKey.set(titleKey(named.title), i);
    byKey.set(`${titleKey(named.title)}|${named.year ?? ''}`, i);
    yield;
  }
  return byKey;
}
