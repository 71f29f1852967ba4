// Names of the files of recordings, and what their tags say. Pure.
import type { RecordingRow } from '#areas/live-tv/public.ts';
import { cleanName } from '#areas/uploads/public.ts';

const two = (number: number): string => String(number).padStart(2, '0');

/** Date and time of the start in the time zone, without signs that a file system refuses. */
function stampOf(start: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit' },
  }).formatToParts(start);
  const of = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
  return `${of('year')}-${of('month')}-${of('day')} ${of('hour')}.${of('minute')}`;
}

type Named = Pick<
  RecordingRow,
  'title' | 'episode_title' | 'season_number' | 'episode_number' | 'year' | 'start_at' | 'id'
>;

/** Directories and the name of the file below the folder, by the type of the library; each part is clean. */
export function partsOfPath(row: Named, type: string, timeZone: string): string[] {
  const title = clean(row.title, row.id);
  if (type === 'movies') {
    const film = row.year === null ? title : `${title} (${row.year})`;
    return [film, `${film}.mkv`];
  }
  const { season_number: season, episode_number: episode, episode_title: name } = row;
  const more = name === null ? '' : ` - ${name}`;
  if (type === 'shows' && season !== null && episode !== null)
    return [title, `Season ${two(season)}`, clean(`${title} - S${two(season)}E${two(episode)}${more}.mkv`, row.id)];
  return [clean(`${title} - ${stampOf(row.start_at, timeZone)}${more}.mkv`, row.id)];
}

const clean = (text: string, otherwise: string): string => cleanName(text.slice(0, 180).toWellFormed()) ?? otherwise;

/** Tags of the file, by the names that Matroska gives them. */
export function tagsOf(row: RecordingRow): Record<string, string> {
  return {
    ...{ title: row.title, ...(row.episode_title !== null && { EPISODE: row.episode_title }) },
    ...(row.description !== null && { DESCRIPTION: row.description.slice(0, 4000) }),
    ...(row.age_rating !== null && { LAW_RATING: row.age_rating }),
    ...(row.season_number !== null && { SEASON_NUMBER: String(row.season_number) }),
    ...(row.episode_number !== null && { EPISODE_NUMBER: String(row.episode_number) }),
    ...{ DATE_RECORDED: row.start_at.toISOString(), CHANNEL: row.channel_name },
  };
}
