import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Draft, DraftFile } from '#workers/scan/group/draft.ts';
import { groupDirectory } from '#workers/scan/group/index.ts';
import { mergeDrafts } from '#workers/scan/group/merge.ts';
import { titleKey } from '#workers/scan/names/title.ts';

/** The values of a peer for one file, or for all of them. Absent members are not compared. */
export interface Want {
  file?: string;
  type?: string;
  title?: string | null;
  alternative?: string[];
  year?: number;
  show?: string;
  season?: number;
  /** As printed, of comics; null for none. */
  number?: string | null;
  volume?: string | null;
  episode?: number;
  end?: number | null;
  date?: string;
  label?: string;
  ids?: Record<string, string>;
  /** Kind of the extra, and the file that it belongs to. */
  extra?: string;
  of?: string;
  parts?: string[];
  /** All files of the item. */
  with?: string[];
  language?: string | null;
  default?: boolean;
  forced?: boolean;
  hearingImpaired?: boolean;
  /** The album of a track or a photo, or the section of a lesson. */
  album?: string;
  /** Of the album; `by` is that of the track. */
  artist?: string;
  by?: string;
  author?: string;
  narrator?: string;
  series?: string;
  seriesNumber?: string;
  platform?: string;
  /** Number of items with files. */
  count?: number;
  /** Names of items with several parts, and their number. */
  stacks?: [name: string, parts: number][];
}

/** A tree of files with the values of a peer for it. */
export interface Case {
  peer: string;
  library: string;
  paths: string[];
  want: Want[];
  held?: true;
}

export interface Miss {
  of: Case;
  /** Compared members that differ, such as `title: ours for theirs`. */
  differences: string[];
  /** Files that a peer shows and that no item here holds. */
  hidden: string[];
}

/** The cases of all peers. */
export function readCases(): Case[] {
  const folder = import.meta.dirname;
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return files.flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line): Case => ({ ...(JSON.parse(line) as Omit<Case, 'peer'>), peer: name.slice(0, -'.jsonl'.length) })),
  );
}

/** Groups the files as a scan does and compares. Nothing when all is as the peer has it. */
export function check(one: Case): Miss | undefined {
  const items = itemsOf(one);
  const differences: string[] = [];
  const hidden: string[] = [];
  for (const want of one.want) {
    const compared = compare(items, want);
    differences.push(...compared.differences);
    if (compared.hidden) hidden.push(want.file ?? '');
  }
  return differences.length + hidden.length === 0 ? undefined : { of: one, differences, hidden };
}

/** An item that is shown. */
export interface Item {
  draft: Draft;
  files: readonly DraftFile[];
  show: Draft | undefined;
  /** The album, section or folder above it. */
  parent: Draft | undefined;
  owner: Draft | undefined;
}

/** Drafts with files; an extra whose owner is not there makes no item, as in the database. */
export function itemsOf({ library, paths }: Pick<Case, 'library' | 'paths'>): Item[] {
  const drafts = mergeDrafts(directoriesOf(paths).flatMap((directory) => groupOne(library, directory, paths)));
  const byKey = new Map(drafts.map((draft) => [`${draft.type} ${draft.key}`, draft]));
  const inDirectory = (directory: string): Draft | undefined =>
    drafts.find((draft) => !draft.extra && draft.files.some(({ path }) => parentOf(path) === directory));
  return drafts.flatMap((draft): Item[] => {
    if (draft.files.length === 0) return [];
    const of = draft.extra?.of;
    const owner = of && ('key' in of ? byKey.get(`${of.type} ${of.key}`) : inDirectory(of.directory));
    if (of && !owner) return [];
    const above = draft.grandparent ?? owner?.parent ?? owner ?? (draft.type === 'comic' ? draft.parent : undefined);
    return [
      {
        draft,
        files: draft.files,
        show: above && byKey.get(`${above.type} ${above.key}`),
        parent: parentIn(byKey, draft),
        owner,
      },
    ];
  });
}

const parentIn = (byKey: ReadonlyMap<string, Draft>, { parent }: Draft): Draft | undefined =>
  parent && byKey.get(`${parent.type} ${parent.key}`);

function groupOne(type: string, directory: string, paths: readonly string[]): Draft[] {
  const files = paths
    .filter((path) => parentOf(path) === directory)
    .map((path) => ({ name: path.slice(path.lastIndexOf('/') + 1), size: 1, mtimeMs: 1, inode: path }));
  const within = directory === '' ? [] : directory.split('/');
  return groupDirectory({ directory, within, files, library: { type, mergeVersions: true } }).drafts;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function directoriesOf(paths: readonly string[]): string[] {
  return [...new Set(paths.map(parentOf))].sort();
}

/** Case, accents, signs and spaces apart, names are the same. */
function keyOf(name: string): string {
  return titleKey(name).replaceAll(' ', '');
}

interface Compared {
  differences: string[];
  hidden: boolean;
}

function compare(items: readonly Item[], want: Want): Compared {
  if (want.file === undefined) return { differences: compareAll(items, want), hidden: false };
  if ('language' in want) return { differences: compareTrack(items, want), hidden: false };
  const item = items.find(({ files }) => files.some(({ path }) => path === want.file));
  if (!item) return { differences: [], hidden: true };
  return {
    differences: [
      ...compareNames(item, want),
      ...compareMakers(item, want),
      ...compareNumbers(item, want),
      ...compareFiles(item, want),
    ],
    hidden: false,
  };
}

type Scalar = string | number | boolean | null | undefined;
type Pair = readonly [what: string, ours: Scalar, theirs: Scalar, same?: boolean | undefined];

function differ(pairs: readonly Pair[]): string[] {
  return pairs.flatMap(([what, ours, theirs, same]) =>
    theirs === undefined || (same ?? ours === theirs) ? [] : [`${what}: ${String(ours)} for ${String(theirs)}`],
  );
}

function compareNames({ draft, show }: Item, want: Want): string[] {
  const titles = [want.title ?? '', ...(want.alternative ?? []).map((more) => `${want.title} ${more}`)];
  const shows = [want.show ?? '', ...(want.alternative ?? []).map((more) => `${want.show} ${more}`)].map(keyOf);
  const latin = (show?.title ?? '').replaceAll(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu, ' ');
  // Some peers leave the second script of a title out.
  const ours = [show?.title ?? '', `${show?.title ?? ''} ${show?.year ?? ''}`, latin].map(keyOf);
  const named = titles.map(keyOf).includes(keyOf(draft.title));
  return differ([
    ['type', draft.extra ? 'extra' : draft.type, want.type],
    ['title', draft.title, want.title ?? undefined, named],
    ['show', show?.title, want.show, ours.some((name) => shows.includes(name))],
    [
      'year',
      draft.year,
      want.show === undefined && ['movie', 'game'].includes(want.type ?? '') ? want.year : undefined,
    ],
    ['ids', JSON.stringify(draft.ids), want.ids && JSON.stringify(want.ids)],
  ]);
}

interface Makers {
  artists?: { name: string }[];
  authors?: { name: string }[];
  narrators?: { name: string }[];
  series?: { title: string; number?: string };
  platform?: string;
}

function compareMakers({ draft, parent, show }: Item, want: Want): string[] {
  const { artists, authors, narrators, series, platform } = (draft.details ?? {}) as Makers;
  const named = (what: string, ours: string | undefined, theirs: string | undefined): Pair => [
    what,
    ours,
    theirs,
    keyOf(ours ?? '') === keyOf(theirs ?? ''),
  ];
  return differ([
    named('album', parent?.title, want.album),
    named('artist', show?.title, want.artist),
    named('by', artists?.[0]?.name, want.by),
    named('author', authors?.[0]?.name, want.author),
    named('narrator', narrators?.[0]?.name, want.narrator),
    named('series', series?.title, want.series),
    ['number in series', series?.number, want.seriesNumber],
    named('platform', platform, want.platform),
  ]);
}

function compareNumbers({ draft }: Item, want: Want): string[] {
  return differ([
    ['season', draft.parentIndex, want.season],
    ['episode', draft.index, want.episode],
    ['end', draft.indexEnd ?? null, want.end === undefined && want.episode !== undefined ? null : want.end],
    ['date', draft.releasedOn, want.date],
    ['number', draft.details?.['number'] as string | undefined, want.number ?? undefined],
    ['volume', draft.parentIndex, want.volume ? Math.floor(Number.parseFloat(want.volume)) : undefined],
    ['no volume', want.volume === null ? (draft.parentIndex ?? null) : null, null],
  ]);
}

function compareFiles({ draft, files, owner }: Item, want: Want): string[] {
  const file = files.find(({ path }) => path === want.file);
  const parts = files
    .filter(({ part, edition }) => part !== undefined && edition === file?.edition)
    .toSorted((a, b) => (a.part ?? 0) - (b.part ?? 0))
    .map(({ path }) => path);
  const all = files.map(({ path }) => path).sort();
  return differ([
    ['extra', draft.extra?.kind, want.extra],
    ['of', owner?.files[0]?.path, want.of, owner?.files.some(({ path }) => path === want.of)],
    ['parts', parts.join(' + '), want.parts?.join(' + ')],
    ['with', all.join(' + '), want.with?.toSorted().join(' + ')],
    ['label', file?.edition, want.label, sameLabel(file?.edition ?? '', want.label ?? '')],
  ]);
}

/** Words such as "cut" may be present or left out. An empty one stands for a label of the picture's height at most. */
function sameLabel(ours: string, theirs: string): boolean {
  const bare = (label: string): string => keyOf(label.replaceAll(/\b(?:cut|edition|version|the|s)\b/gi, ' '));
  if (theirs === '') return /^(?:\d+p)?$/.test(ours);
  return bare(ours).includes(bare(theirs)) || (bare(ours) !== '' && bare(theirs).includes(bare(ours)));
}

function compareTrack(items: readonly Item[], want: Want): string[] {
  const file = items.flatMap(({ files }) => files).find(({ path }) => path === want.of);
  const track = file?.tracks.find(({ path }) => path === want.file);
  if (!track) return ['track: none'];
  return differ([
    ['language', track.language ?? null, want.language],
    ['title', track.title ?? null, want.title, keyOf(track.title ?? '') === keyOf(want.title ?? '')],
    ['default', track.default, want.default],
    ['forced', track.forced, want.forced],
    ['hearingImpaired', track.hearingImpaired, want.hearingImpaired],
  ]);
}

function compareAll(items: readonly Item[], want: Want): string[] {
  const stacks = items.flatMap(({ draft, files }) => {
    const parts = files.filter(({ part }) => part !== undefined).length;
    return parts === 0 ? [] : [`${keyOf(`${draft.title} ${draft.year ?? ''}`)} ${parts}`];
  });
  const theirs = want.stacks?.map(([name, parts]) => `${keyOf(name)} ${parts}`).sort();
  const unnamed = want.stacks?.every(([name]) => name === '');
  const bare = (list: readonly string[]): string =>
    list.map((one) => (unnamed ? one.replace(/^\S* /, '') : one).trim()).join(', ');
  return differ([
    ['count', items.length, want.count],
    ['stacks', bare(stacks.sort()), theirs && bare(theirs)],
  ]);
}
