import type { Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { GuideProgram, LiveProgram } from './programs.schemas.ts';
import { findNowAndNext, type ProgramRow } from './programs.store.ts';

/** Whether the programme is above the age limit of the caller. */
export function isRestricted({ sees }: Principal, { age_years: years }: Pick<ProgramRow, 'age_years'>): boolean {
  if (years === null) return sees.hideUnrated;
  return sees.ageLimit !== undefined && years > sees.ageLimit;
}

const given = <T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], null | undefined> } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && value !== undefined)) as never;

/** A programme of the grid; above the age limit only its times. */
export function toGuideProgram(who: Principal, row: ProgramRow, channelId: string): GuideProgram {
  const place = { id: row.id, channelId, startAt: iso(row.start_at), endAt: iso(row.end_at) };
  if (isRestricted(who, row))
    return {
      ...{ ...place, title: 'Restricted', kind: 'other', categories: [] },
      ...{ isNew: false, isLive: false, isRepeat: false, isPremiere: false },
    };
  return {
    ...{ ...place, title: row.title, kind: row.kind, categories: row.categories },
    ...{ isNew: row.is_new, isLive: row.is_live, isRepeat: row.is_repeat, isPremiere: row.is_premiere },
    ...given({
      ...{ episodeTitle: row.episode_title, seasonNumber: row.season_number, episodeNumber: row.episode_number },
      ...{ episodeKey: row.episode_key, seriesKey: row.series_key, year: row.year, ageRating: row.age_rating },
      ...{ originalAirDate: row.original_air_date as string | null, starRating: row.star_rating, hd: row.hd },
    }),
    ...(row.reminder_id !== null &&
      row.reminder_ms !== null && {
        reminder: { id: row.reminder_id, leadMs: row.reminder_ms },
      }),
    ...recordingOf(row),
  };
}

function recordingOf({ recording }: ProgramRow): Pick<GuideProgram, 'recording'> {
  if (recording === null) return {};
  const { id, state, rule_id: ruleId } = recording;
  return { recording: { id, state, ...(ruleId !== null && { ruleId }) } };
}

export function toProgram(who: Principal, row: ProgramRow, channelId: string): LiveProgram {
  const short = toGuideProgram(who, row, channelId);
  if (isRestricted(who, row)) return { ...short, credits: [] };
  return { ...short, ...given({ description: row.description }), credits: row.credits };
}

interface Sought {
  id: string;
  title: string;
  year?: number | undefined;
  season?: number | undefined;
  episode?: number | undefined;
}

/** The programmes with the items that are the same film or episode. */
export async function withLibraryItems<P extends GuideProgram>(db: Db, who: Principal, programs: P[]): Promise<P[]> {
  const films = programs.filter(({ kind }) => kind === 'movie').map(({ id, title, year }) => ({ id, title, year }));
  const episodes = programs.flatMap(({ id, title, seasonNumber: season, episodeNumber: episode }) =>
    season === undefined || episode === undefined ? [] : [{ id, title, season, episode }],
  );
  const found = new Map([
    ...(await itemsOf(db, who, 'movie', films)),
    ...(await itemsOf(db, who, 'episode', episodes)),
  ]);
  return programs.map((program) => {
    const libraryItemId = found.get(program.id);
    return libraryItemId === undefined ? program : { ...program, libraryItemId };
  });
}

const SAME = {
  movie: `join items on items.type = 'movie' and foyer_fold(items.title) = foyer_fold(s.title)
    and (s.year is null or items.year is null or abs(items.year - s.year) <= 1)`,
  episode: `join items show on show.type = 'show' and foyer_fold(show.title) = foyer_fold(s.title)
    join items on items.grandparent_id = show.id and items.type = 'episode' and items.trashed_at is null
      and items.parent_index = s.season and items.index_number = s.episode`,
};

async function itemsOf(
  db: Db,
  who: Principal,
  ...[type, sought]: [type: keyof typeof SAME, sought: Sought[]]
): Promise<[string, string][]> {
  if (sought.length === 0) return [];
  const pairs = await rowsOf<{ program: string; item: string }>(
    db,
    `select distinct on (s.id) s.id as program, items.id as item
       from jsonb_to_recordset(?::jsonb) as s(id text, title text, year int, season int, episode int) ${SAME[type]}
      order by s.id, items.id`,
    [JSON.stringify(sought)],
  );
  const items = db('items').whereRaw('items.id = any(?::uuid[])', [pairs.map(({ item }) => item)]);
  const visible = new Set((await items.modify(onlyVisibleItems, who).pluck('items.id')) as string[]);
  return pairs.filter(({ item }) => visible.has(item)).map(({ program, item }) => [program, item]);
}

export interface OnAir {
  now?: LiveProgram;
  next?: LiveProgram;
}

/** The programme on air and the next one of each channel, as the caller may see it, in one statement for a page of channels. */
export async function nowAndNext(
  db: Db,
  who: Principal,
  { channelIds, at }: { channelIds: readonly string[]; at: Date },
): Promise<Map<string, OnAir>> {
  const shown = new Map<string, OnAir>();
  for (const row of await findNowAndNext(db, who, { channelIds, at })) {
    const program = toProgram(who, row, row.channel_id);
    const before = shown.get(row.channel_id) ?? {};
    const isNow = row.start_at <= at;
    if (isNow) shown.set(row.channel_id, { ...before, now: program });
    else if (!before.next) shown.set(row.channel_id, { ...before, next: program });
  }
  return shown;
}
