import { type ExtraFile, extraFile, extraTitle } from './extras.ts';
import { splitName } from './kinds.ts';
import { type Stack, stackSteps } from './parts.ts';
import { atOnce, type Steps } from './steps.ts';
import { isYear, tagsOf } from './tags.ts';
import { type Named, readName, saidEdition, tidy, titleKey } from './title.ts';

/** One file of a film. */
export interface FilmFile {
  name: string;
  edition?: string;
  /** Order among the versions, the preferred first. */
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

/** A folder to be grouped: its own name (empty for the library's folder itself) and the names of its videos. */
export interface FilmFolder {
  folder: string;
  videos: readonly string[];
}

export interface FilmGroups {
  films: Film[];
  extras: FilmExtra[];
}

/** A file or the parts of one, by what its name says. */
interface Single {
  stem: string;
  named: Named;
  files: Stack<string>['files'];
}

/** Tells which videos of one folder are which film, version, part or extra. */
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

/** `Some Films Trilogy` and `Movies` are no film, unless its file is called so too. */
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

/** A folder is one film's when its files are called like it, or when it alone tells a year and holds one film's files. */
function* ofOneFilm(folder: string, singles: readonly Single[]): Steps<boolean> {
  const named = readName(folder);
  if (singles.length === 0 || holdsSeveral(named, singles)) return false;
  const keys = yield* keysOf(singles);
  const told = named.year !== undefined || Object.keys(named.ids).length > 0 || isReleased(folder);
  if (singles.length === 1 || keys.size === 1) return told || sameFilm(named, singles[0]?.named);
  return singles.every(
    ({ stem, named: own }) => isVersion(stem, folder) || (named.year !== undefined && sameFilm(named, own)),
  );
}

/** A folder that is called like a release names the film better than the short name of its file. */
function isReleased(folder: string): boolean {
  return tagsOf(folder).filter(({ tag }) => tag === 'release').length > 1;
}

function sameFilm(folder: Named, file: Named | undefined): boolean {
  if (!file || titleKey(folder.title) !== titleKey(file.title)) return false;
  return folder.year === undefined || file.year === undefined || folder.year === file.year;
}

/** The name of a file behind that of its folder; nothing when it is called otherwise. */
function behindFolder(stem: string, folder: string): string | undefined {
  const same = folder !== '' && stem.slice(0, folder.length).toLowerCase() === folder.toLowerCase();
  return same ? stem.slice(folder.length).trim() : undefined;
}

const YEARS = /[([](\d{4})[)\]]/g;

/** `Film - label`, `Film [label]` and `Film` in the folder `Film`. With another year it is another film. */
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

/** An extra of nothing that is there is shown by itself. */
function filmAlone(name: string): Film {
  const { stem } = splitName(name);
  return { named: { title: tidy(stem) || stem, ids: {} }, files: [{ name, rank: 0 }] };
}

/** Resolutions first and descending, then by label. The parts of a version have its label. */
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

/** `- label` or `[label]` behind the folder's name, `{edition-…}`, or what the release tags say. */
function labelOf({ stem, named }: Single, folder: string): string {
  const said = saidEdition(stem);
  if (said) return said;
  const rest = behindFolder(stem, folder) ?? '';
  const told = named.edition ?? (named.resolution ? `${named.resolution}p` : '');
  if (/^(?:-\s|\[|\{)/.test(rest)) return tidy(rest.replaceAll(/[[\]{}]/g, ' '));
  return told || (/^[-._]/.test(rest) && !isYear(tidy(rest)) ? tidy(rest) : '');
}

/** Gives extras to the film that they are named after; in the folder of one film all are its own. */
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

/** Indexes of films by title, and by title and year; of equal ones the first. */
function* placesOf(films: readonly Film[]): Steps<Map<string, number>> {
  const byKey = new Map<string, number>();
  for (const [i, { named }] of [...films.entries()].reverse()) {
    byKey.set(titleKey(named.title), i);
    byKey.set(`${titleKey(named.title)}|${named.year ?? ''}`, i);
    yield;
  }
  return byKey;
}
