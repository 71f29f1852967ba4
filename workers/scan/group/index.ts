import type { ReadAs } from '#workers/probe/probe.ts';
import { kindOf, splitName } from '../names/kinds.ts';
import { readName } from '../names/title.ts';
import { groupOwn } from '../own/group.ts';
import type { OwnRules } from '../own/rules.ts';
import { groupBooks } from './books.ts';
import { groupComics } from './comics.ts';
import { companionSteps } from './companions.ts';
import { groupCourses } from './courses.ts';
import type { Draft, Drafting, Grouped, Grouping } from './draft.ts';
import { groupFiles } from './files.ts';
import { groupGames } from './games.ts';
import { artworkOf, draftFile, inside } from './local.ts';
import { groupMovies } from './movies.ts';
import { groupMusic } from './music.ts';
import { groupPhotos } from './photos.ts';
import { groupShows } from './shows.ts';

/** How the files of a library type become items. */
interface TypeRules {
  group: (grouping: Grouping) => Drafting;
  /** The reader of its files; absent for films. */
  readAs?: ReadAs;
  /** Items depend on the content of their files: new files are read before they are grouped. */
  byContent?: true;
}

const rules: Readonly<Record<string, TypeRules>> = {
  movies: { group: groupMovies },
  shows: { group: groupShows },
  videos: { group: groupVideos },
  livetv: { group: groupRecordings },
  music: { group: groupMusic, readAs: 'music', byContent: true },
  photos: { group: groupPhotos, readAs: 'photo', byContent: true },
  books: { group: groupBooks, readAs: 'book', byContent: true },
  comics: { group: groupComics, readAs: 'comic', byContent: true },
  games: { group: groupGames, readAs: 'file' },
  courses: { group: groupCourses, readAs: 'lesson' },
  files: { group: groupFiles, readAs: 'file' },
};

/** The rules of a library type; undefined for one whose files are not scanned. */
export function rulesOf(type: string): TypeRules | undefined {
  return rules[type];
}

/** Whether the items of a library depend on the content of its files. */
export function isByContent({ type, own }: { type: string; own?: OwnRules | undefined }): boolean {
  return rulesOf(type)?.byContent === true || own?.files.minDurationMs !== undefined;
}

/** Items of one listed directory by the rules of its library's type. */
export function groupDirectory(grouping: Grouping): Grouped {
  const drafts: Draft[] = [];
  const steps = draftsOf(grouping);
  let step = steps.next();
  for (; !step.done; step = steps.next()) if (step.value) drafts.push(step.value);
  return { drafts, unrecognised: step.value };
}

/** `groupDirectory` one item at a time, with pauses; containers come before their content. */
export function* draftsOf(grouping: Grouping): Drafting {
  yield* companionSteps(grouping.files, grouping.library.type);
  const type = rulesOf(grouping.library.type);
  if (!type) return [];
  const { own } = grouping.library;
  return own ? yield* groupOwn(grouping, own, type.group) : yield* type.group(grouping);
}

function* groupVideos(grouping: Grouping): Drafting {
  for (const { name } of grouping.files) yield kindOf(name) === 'video' ? videoDraft(grouping, name) : undefined;
  return [];
}

/** The files of live television are recordings; its channels have none. */
function* groupRecordings(grouping: Grouping): Drafting {
  for (const { name } of grouping.files)
    yield kindOf(name) === 'video' ? { ...videoDraft(grouping, name), type: 'recording' } : undefined;
  return [];
}

/** Every file of a video library is an item of its own. */
function videoDraft(grouping: Grouping, name: string): Draft {
  const named = readName(splitName(name).stem);
  return {
    type: 'video',
    key: `p:${inside(grouping.directory, name)}`,
    top: true,
    title: named.title,
    ...(named.year === undefined ? {} : { year: named.year }),
    ids: named.ids,
    artwork: artworkOf(grouping, name, false),
    files: [draftFile(grouping, name, { rank: 0 })],
  };
}
