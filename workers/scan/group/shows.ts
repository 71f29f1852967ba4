import { kindOf, splitName } from '../names/kinds.ts';
import { stacksOf, titleWithoutPart } from '../names/parts.ts';
import { seasonOf } from '../names/seasons.ts';
import { contextOf } from '../names/show-context.ts';
import { type Episode, readEpisodeIn } from '../names/shows.ts';
import { type Named, readName, tidy, titleKey } from '../names/title.ts';
import type { WalkedFile } from '../walk/types.ts';
import type { Draft, Drafting, Grouping, ItemKey } from './draft.ts';
import { artworkOf, draftFile, inside } from './local.ts';
import { extraDraft } from './movies.ts';

interface Placed {
  file: WalkedFile;
  episode: Episode;
}

/** Shows, seasons and episodes of one directory. */
export function* groupShows(grouping: Grouping): Drafting {
  const placed: Placed[] = [];
  const unrecognised: string[] = [];
  const context = contextOf(grouping.within);
  const videos = grouping.files.filter((file) => kindOf(file.name) === 'video');
  for (const file of videos) {
    const episode = readEpisodeIn(context, file.name);
    if (episode) placed.push({ file, episode });
    else unrecognised.push(file.name);
    yield;
  }
  if (videos.length === 0) yield* folderDraft(grouping);
  yield* unique(placed, ({ episode }) => showDraft(episode.show));
  yield* unique(placed, ({ episode }) => seasonDraft(episode));
  yield* episodesOf(grouping, placed);
  for (const { file, episode } of placed) if (episode.extra) yield showExtra(grouping, file, episode);
  return unrecognised;
}

function* episodesOf(grouping: Grouping, placed: readonly Placed[]): Generator<Draft | undefined> {
  const episodes = new Map<string, Placed[]>();
  for (const one of placed) {
    if (one.episode.extra) continue;
    const key = episodeKey(grouping, one);
    const versions = episodes.get(key);
    if (versions) versions.push(one);
    else episodes.set(key, [one]);
    yield;
  }
  for (const versions of episodes.values()) yield episodeDraft(grouping, versions);
}

/** A folder with pictures or an NFO but no videos may be that of a known show, which then uses them. */
function folderDraft(grouping: Grouping): Draft[] {
  const name = grouping.within.at(-1);
  const describes = grouping.files.some(({ name: file }) => kindOf(file) === 'picture' || kindOf(file) === 'nfo');
  if (name === undefined || !describes || seasonOf(name) !== undefined) return [];
  return [{ ...showDraft(readName(name)), onlyKnown: true }];
}

/** The first of the drafts with the same key. */
function* unique(placed: readonly Placed[], make: (one: Placed) => Draft | undefined): Generator<Draft | undefined> {
  const keys = new Set<string>();
  for (const one of placed) {
    const draft = make(one);
    const fresh = draft !== undefined && !keys.has(draft.key);
    if (fresh) keys.add(draft.key);
    yield fresh ? draft : undefined;
  }
}

function showKey({ title, year }: Named): string {
  return `${titleKey(title)}|${year ?? ''}`;
}

function showDraft(show: Named): Draft {
  const year = show.year === undefined ? {} : { year: show.year };
  return {
    type: 'show',
    key: showKey(show),
    top: true,
    title: show.title,
    ...year,
    ids: show.ids,
    artwork: {},
    files: [],
  };
}

function seasonDraft({ show, season }: Episode): Draft | undefined {
  if (season === undefined) return undefined;
  return {
    type: 'season',
    key: `${showKey(show)}/s${season}`,
    parent: { type: 'show', key: showKey(show) },
    top: false,
    title: season === 0 ? 'Specials' : `Season ${season}`,
    index: season,
    ids: {},
    artwork: {},
    files: [],
  };
}

/** A special without a number is identified by its path. */
function episodeKey(grouping: Grouping, { episode: { show, season, number, date }, file }: Placed): string {
  const place =
    date === undefined ? `s${season ?? 1}e${number ?? `@${inside(grouping.directory, file.name)}`}` : `d${date}`;
  return `${showKey(show)}/${place}`;
}

/** Several files of one number are its versions, the highest resolution first, or its parts. */
function episodeDraft(grouping: Grouping, versions: readonly Placed[]): Draft {
  const ranked = stacksOf(versions, ({ file }) => splitName(file.name).stem).map((stack) => ({
    ...stack,
    named: readName(stack.stem),
  }));
  ranked.sort((a, b) => (b.named.resolution ?? 0) - (a.named.resolution ?? 0) || (a.stem < b.stem ? -1 : 1));
  const [{ episode, file } = versions[0] as Placed] = ranked.flatMap(({ files }) => files.map(({ of }) => of));
  const parent: ItemKey = { type: 'season', key: `${showKey(episode.show)}/s${episode.season ?? 1}` };
  return {
    type: 'episode',
    key: episodeKey(grouping, { episode, file }),
    parent,
    grandparent: { type: 'show', key: showKey(episode.show) },
    top: false,
    title: titleOf(episode, (ranked[0]?.files.length ?? 0) > 1),
    ...(episode.number === undefined ? {} : { index: episode.number }),
    ...(episode.numberEnd === undefined ? {} : { indexEnd: episode.numberEnd }),
    ...(episode.date === undefined ? {} : { releasedOn: episode.date }),
    parentIndex: episode.season ?? 1,
    ids: {},
    artwork: artworkOf(grouping, file.name, false),
    files: ranked.flatMap(({ stem, named, files }, rank) => {
      const label = named.resolution ? `${named.resolution}p` : tidy(stem);
      const version = ranked.length > 1 ? { rank, edition: label } : { rank };
      return files.map(({ of, part }) =>
        draftFile(grouping, of.file.name, part === undefined ? version : { ...version, part, parts: files.length }),
      );
    }),
  };
}

function titleOf({ title = '', date, number = 0 }: Episode, inParts: boolean): string {
  return (inParts ? titleWithoutPart(title) : title) || (date ?? `Episode ${number}`);
}

function showExtra(grouping: Grouping, file: WalkedFile, { show, season, extra }: Episode): Draft {
  const of: ItemKey =
    season === undefined
      ? { type: 'show', key: showKey(show) }
      : { type: 'season', key: `${showKey(show)}/s${season}` };
  return extraDraft(grouping, {
    name: file.name,
    kind: extra?.kind ?? 'other',
    title: extra?.title ?? file.name,
    of,
  });
}
