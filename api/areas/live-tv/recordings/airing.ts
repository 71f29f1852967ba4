// The programme, or the time of a channel, that is recorded.
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { getChannel, type ShownChannel } from '../channels/channels.view.ts';
import { getProgram, refuseRestricted } from '../guide/guide.ts';
import { findInWindow, findShown, type ProgramRow } from '../guide/programs.store.ts';
import { isRestricted } from '../guide/programs.view.ts';
import type { RecordingRow } from './recordings.store.ts';

/** The longest recording without its padding. */
export const LONGEST_MS = 86_400_000;

type Texts = 'title' | 'episode_title' | 'description' | 'categories' | 'kind' | 'year' | 'original_air_date';
type Numbers = 'season_number' | 'episode_number' | 'episode_key' | 'series_key' | 'age_rating' | 'age_years';
type Place = 'channel_id' | 'channel_name' | 'program_id' | 'start_at' | 'end_at';
/** Columns of a recording with its content and its time. */
export type Airing = Pick<RecordingRow, Texts | Numbers | Place>;

const encrypted = (): ApiError => new ApiError('MEDIA_NOT_PLAYABLE', 'This channel is encrypted', { reason: 'drm' });
const ended = (path: string): ApiError => invalid(['body', path], 'ended', 'it has ended');

/** A programme that has not ended. Throws 400, 403 for one above the age limit, 404 and 415. */
export async function airingOf(call: Pick<Call, 'db' | 'who' | 'now'>, programId: string): Promise<Airing> {
  const found = await getProgram(call, programId);
  refuseRestricted(call, found);
  const { row, channelId } = found;
  if (row.end_at <= call.now) throw ended('programId');
  const channel = await getChannel(call, channelId);
  if (channel.drm) throw encrypted();
  return toAiring(row, channel);
}

/** What a recording copies of a programme. */
export function toAiring(row: ProgramRow, { id, name }: Pick<ShownChannel, 'id' | 'name'>): Airing {
  return {
    ...{ channel_id: id, channel_name: name, program_id: row.id },
    ...{ title: row.title, episode_title: row.episode_title, description: row.description },
    ...{ categories: row.categories, kind: row.kind, year: row.year, original_air_date: row.original_air_date },
    ...{ season_number: row.season_number, episode_number: row.episode_number },
    ...{ episode_key: row.episode_key, series_key: row.series_key },
    ...{ age_rating: row.age_rating, age_years: row.age_years, start_at: row.start_at, end_at: row.end_at },
  };
}

export interface Time {
  channelId: string;
  startAt: Date;
  endAt: Date;
  title?: string | undefined;
}

/** A time of a channel. Throws 400, 403 where a programme of it is above the age limit, 404 and 415. */
export async function timeOf(call: Pick<Call, 'db' | 'who' | 'now'>, time: Time): Promise<Airing> {
  requireTime(call.now, time);
  const channel = await getChannel(call, time.channelId);
  if (channel.drm) throw encrypted();
  const programs = await programsWithin(call, time);
  const onAir = programs.find((row) => row.start_at <= time.startAt);
  const years = highestAge(programs);
  if ([...programs, { age_years: years }].some((one) => isRestricted(call.who, one)))
    throw new ApiError('FORBIDDEN', 'A programme of that time is above the age limit', { by: 'age' });
  return {
    ...{ channel_id: channel.id, channel_name: channel.name, program_id: null },
    ...{ title: time.title ?? onAir?.title ?? channel.name, episode_title: null, description: null, categories: [] },
    ...{ kind: 'other', year: null, original_air_date: null, season_number: null, episode_number: null },
    ...{ episode_key: null, series_key: null, age_rating: null },
    ...{ age_years: years, start_at: time.startAt, end_at: time.endAt },
  };
}

function highestAge(programs: readonly ProgramRow[]): number | null {
  const ages = programs.flatMap(({ age_years: years }) => years ?? []);
  return ages.length > 0 ? Math.max(...ages) : null;
}

/** Throws 400 unless it ends after it starts, within 24 hours, and has not ended. */
export function requireTime(now: Date, { startAt, endAt }: Pick<Time, 'startAt' | 'endAt'>): void {
  const length = endAt.getTime() - startAt.getTime();
  if (length <= 0 || length > LONGEST_MS)
    throw invalid(['body', 'endAt'], 'out_of_range', 'after the start, and at most 24 hours after it');
  if (endAt <= now) throw ended('endAt');
}

async function programsWithin(
  { db, who }: { db: Db; who: Call['who'] },
  { channelId, startAt: from, endAt: to }: Time,
): Promise<ProgramRow[]> {
  const shown = await findShown(db, who, { channelIds: [channelId] });
  return findInWindow(db, who, { keys: shown.map(({ key }) => key), from, to });
}
