import { extraFile } from './extras.ts';
import { splitName } from './kinds.ts';
import { partOf } from './parts.ts';
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

interface Single {
  name: string;
  stem: string;
  named: Named;
}

/** ` - label` or ` [label]` behind the folder's name. */
const VERSION = /^\s*(?:-\s|\[|\{)(.*)$/s;

function restBehind(stem: string, folder: string): string {
  return folder !== '' && stem.startsWith(folder) ? stem.slice(folder.length) : '';
}

/** Tells which videos of one folder are which film, version, part or extra. */
export function groupFilms({ folder, videos }: FilmFolder): FilmGroups {
  const extras = videos.flatMap((name) => {
    const extra = extraFile(name);
    return extra ? [{ name, ...extra }] : [];
  });
  const extraNames = new Set(extras.map((extra) => extra.name));
  const singles = videos.filter((name) => !extraNames.has(name)).map(single);
  const films = folder !== '' && ofOneFilm(folder, singles) ? [filmOfFolder(folder, singles)] : filmsByName(singles);
  const byTitle = new Map(films.map(({ named }, i) => [titleKey(named.title), i] as const).toReversed());
  const owned = films.length > 0 ? extras.map((extra) => ({ ...extra, film: ownerOf(extra.of, byTitle) })) : [];
  return {
    films,
    extras: owned.map(({ name, kind, film }) => ({ name, kind, film, title: tidy(splitName(name).stem) })),
  };
}

function single(name: string): Single {
  const { stem } = splitName(name);
  return { name, stem, named: readName(partOf(stem)?.stem ?? stem) };
}

/** A folder is one film's when its files are called like it, or when it alone tells a year and holds one film's files. */
function ofOneFilm(folder: string, singles: readonly Single[]): boolean {
  if (singles.length === 0) return false;
  const named = readName(folder);
  const keys = new Set(singles.map(({ named: own }) => `${titleKey(own.title)}|${own.year ?? ''}`));
  const told = named.year !== undefined || Object.keys(named.ids).length > 0;
  if (singles.length === 1 || keys.size === 1) return told || sameFilm(named, singles[0]?.named);
  return singles.every(
    ({ stem, named: own }) =>
      VERSION.test(restBehind(stem, folder)) || (named.year !== undefined && sameFilm(named, own)),
  );
}

function sameFilm(folder: Named, file: Named | undefined): boolean {
  if (!file || titleKey(folder.title) !== titleKey(file.title)) return false;
  return folder.year === undefined || file.year === undefined || folder.year === file.year;
}

function filmOfFolder(folder: string, singles: readonly Single[]): Film {
  const named = readName(folder);
  const [first] = singles;
  const year =
    named.year ?? (first && titleKey(first.named.title) === titleKey(named.title) ? first.named.year : undefined);
  const ids = { ...first?.named.ids, ...named.ids };
  return { named: { ...named, ids, ...(year === undefined ? {} : { year }) }, files: filesOf(singles, folder) };
}

function filmsByName(singles: readonly Single[]): Film[] {
  const groups = Map.groupBy(
    singles,
    ({ named }) => `${titleKey(named.title)}|${named.year ?? ''}|${JSON.stringify(named.ids)}`,
  );
  return [...groups.values()].map((group) => ({
    named: group[0]?.named ?? readName(''),
    files: filesOf(group, ''),
  }));
}

/** Parts when all of them are parts of one name, else versions. */
function filesOf(singles: readonly Single[], folder: string): FilmFile[] {
  const parts = singles.map(({ stem }) => partOf(stem));
  const stems = new Set(parts.map((part) => part?.stem.toLowerCase()));
  const numbers = new Set(parts.map((part) => part?.number));
  if (singles.length > 1 && stems.size === 1 && !stems.has(undefined) && numbers.size === singles.length) {
    const files = singles.map(({ name }, i) => ({ name, rank: 0, part: parts[i]?.number ?? 1, parts: singles.length }));
    return files.sort((a, b) => a.part - b.part);
  }
  return versionsOf(singles, folder);
}

/** Resolutions first and descending, then by label. */
function versionsOf(singles: readonly Single[], folder: string): FilmFile[] {
  const labelled = singles.map((own) => ({
    name: own.name,
    label: labelOf(own, folder),
    height: own.named.resolution ?? 0,
  }));
  labelled.sort((a, b) => b.height - a.height || a.label.localeCompare(b.label) || (a.name < b.name ? -1 : 1));
  return labelled.map(({ name, label }, rank) => {
    const edition = label || (singles.length > 1 ? tidy(splitName(name).stem) : '');
    return edition === '' ? { name, rank } : { name, rank, edition };
  });
}

/** `- label` or `[label]` behind the folder's name, `{edition-…}`, or what the release tags say. */
function labelOf({ stem, named }: Single, folder: string): string {
  const said = saidEdition(stem);
  if (said) return said;
  const label = VERSION.exec(restBehind(stem, folder))?.[1];
  if (label !== undefined) return tidy(label.replaceAll(/[[\]]/g, ' '));
  return named.edition ?? (named.resolution ? `${named.resolution}p` : '');
}

function ownerOf(of: string, byTitle: ReadonlyMap<string, number>): number {
  return byTitle.get(titleKey(readName(of).title)) ?? 0;
}
