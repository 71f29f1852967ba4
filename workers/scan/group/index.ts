import { kindOf, splitName } from '../names/kinds.ts';
import { readName } from '../names/title.ts';
import type { Draft, Grouped, Grouping } from './draft.ts';
import { artworkOf, draftFile, inside } from './local.ts';
import { groupMovies } from './movies.ts';
import { groupShows } from './shows.ts';

/** Library types whose files this scan groups. */
export const groupedTypes = ['movies', 'shows', 'videos'] as const;

/** Items of one listed directory, by the rules of its library's type. */
export function groupDirectory(grouping: Grouping): Grouped {
  if (grouping.library.type === 'shows') return groupShows(grouping);
  return grouping.library.type === 'movies' ? groupMovies(grouping) : groupVideos(grouping);
}

/** Every file of a library of videos is an item of its own. */
function groupVideos(grouping: Grouping): Grouped {
  const videos = grouping.files.filter((file) => kindOf(file.name) === 'video');
  return { drafts: videos.map(({ name }) => videoDraft(grouping, name)), unrecognised: [] };
}

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
