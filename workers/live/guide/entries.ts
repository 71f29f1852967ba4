// Channels and programmes of a guide, as they are stored.
import { hash } from 'node:crypto';
import { ageYears } from '#platform/age-ratings.ts';
import { folded } from '#platform/agents/score.ts';
import { calendarDay } from '#platform/calendar.ts';
import { kindOf, type ProgramKind } from './kinds.ts';
import { type Numbers, numbersOf } from './numbers.ts';
import { timeOf } from './times.ts';
import type { Element } from './xmltv.ts';

export interface GuideChannel {
  id: string;
  names: string[];
  number?: string;
  iconUrl?: string;
}

export interface Credit {
  name: string;
  role: string;
}

export interface Programme {
  channel: string;
  startMs: number;
  /** Absent without a stop: it ends where the next one of its channel begins. */
  endMs?: number;
  title: string;
  episodeTitle?: string;
  description?: string;
  kind: ProgramKind;
  categories: string[];
  season?: number;
  episode?: number;
  episodeKey?: string;
  seriesKey?: string;
  isNew: boolean;
  isLive: boolean;
  isRepeat: boolean;
  isPremiere: boolean;
  year?: number;
  originalAirDate?: string;
  ageRating?: string;
  ageYears?: number;
  starRating?: number;
  hd?: boolean;
  credits: Credit[];
}

export const MOST_ID = 200;
const MOST_NAME = 200;
const MOST_TITLE = 300;
const MOST_DESCRIPTION = 4000;
const MOST_KEY = 120;
/** The longest programme; a longer one is a fault of the guide. */
const LONGEST_MS = 24 * 3_600_000;

/** The text in one line without NUL and broken characters. */
function plain(text: string, most: number): string {
  return text.toWellFormed().replaceAll('\0', '').replace(/\s+/g, ' ').trim().slice(0, most).toWellFormed();
}

const childrenOf = (entry: Element, name: string): Element[] => entry.children.filter((child) => child.name === name);
const textsOf = (entry: Element, name: string, most: number): string[] =>
  childrenOf(entry, name)
    .map(({ text }) => plain(text, most))
    .filter((text) => text !== '');
const has = (entry: Element, name: string): boolean => entry.children.some((child) => child.name === name);
/** Only the members that have a value. */
const given = <T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never;

/** A channel; undefined without an id. */
export function channelOf(entry: Element): GuideChannel | undefined {
  const id = plain(entry.attributes['id'] ?? '', MOST_ID + 1);
  if (id === '' || id.length > MOST_ID) return undefined;
  const names = [...new Set(textsOf(entry, 'display-name', MOST_NAME))].slice(0, 20);
  const number = [...textsOf(entry, 'lcn', 20), ...names].find((name) => /^\d{1,4}([.-]\d{1,3})?$/.test(name));
  const icon = childrenOf(entry, 'icon').map(({ attributes }) => attributes['src'] ?? '');
  const iconUrl = icon.find((url) => url.length <= 2000 && /^https?:\/\//.test(url));
  return { id, names, ...given({ number: number?.replace('-', '.'), iconUrl }) };
}

/** A programme; undefined for an entry without channel, time or title, or that ends before it starts. */
export function programmeOf(entry: Element, shiftMs: number): Programme | undefined {
  const channel = plain(entry.attributes['channel'] ?? '', MOST_ID + 1);
  const [title] = textsOf(entry, 'title', MOST_TITLE);
  const times = timesOf(entry, shiftMs);
  if (channel === '' || channel.length > MOST_ID || title === undefined || !times) return undefined;
  return { channel, ...times, title, ...about(entry, title) };
}

function timesOf({ attributes }: Element, shiftMs: number): Pick<Programme, 'startMs' | 'endMs'> | undefined {
  const start = timeOf(attributes['start'] ?? '');
  if (start === undefined) return undefined;
  const { stop } = attributes;
  if (stop === undefined) return { startMs: start + shiftMs };
  const end = timeOf(stop);
  if (end === undefined || end <= start || end - start > LONGEST_MS) return undefined;
  return { startMs: start + shiftMs, endMs: end + shiftMs };
}

function about(entry: Element, title: string): Omit<Programme, 'channel' | 'startMs' | 'endMs' | 'title'> {
  const [episodeTitle] = textsOf(entry, 'sub-title', MOST_TITLE);
  const [description] = textsOf(entry, 'desc', MOST_DESCRIPTION);
  const categories = [...new Set(textsOf(entry, 'category', 60))].slice(0, 20);
  const { progId, ...numbers } = numbersOf(
    childrenOf(entry, 'episode-num').map(({ attributes, text }) => ({ system: attributes['system'] ?? '', text })),
  );
  const isFilm = progId?.startsWith('MV') === true;
  const isEpisode = !isFilm && (numbers.episode !== undefined || progId?.startsWith('EP') === true);
  const kind = isFilm ? 'movie' : kindOf(categories, isEpisode);
  const year = yearOf(entry);
  return {
    ...{ kind, categories, credits: creditsOf(entry) },
    ...given({ episodeTitle, description, ...numbers, year }),
    ...given(keysOf({ title, episodeTitle, kind, year, progId, ...numbers })),
    ...given({ originalAirDate: airDateOf(entry), starRating: starsOf(entry), hd: hdOf(entry) }),
    ...ratingOf(entry),
    ...{ isNew: has(entry, 'new'), isLive: has(entry, 'live'), isPremiere: has(entry, 'premiere') },
    isRepeat: has(entry, 'previously-shown') && !has(entry, 'new'),
  };
}

interface Named extends Omit<Numbers, 'progId'> {
  progId?: string | undefined;
  title: string;
  episodeTitle?: string | undefined;
  kind: ProgramKind;
  year?: number | undefined;
}

const keyText = (text: string): string => folded(text).slice(0, MOST_KEY);

/**
 * What makes two airings the same: the id of Gracenote, else the series with the numbers or the title of the episode, or the
 * film with its year. Ids that end in 0000 name the series alone.
 */
function keysOf(named: Named): { seriesKey?: string | undefined; episodeKey?: string | undefined } {
  const { title, episodeTitle, kind, year, progId, season, episode } = named;
  if (kind === 'movie') return { episodeKey: progId ?? `film:${keyText(title)}:${year ?? ''}` };
  const seriesKey = progId ? progId.slice(2, -4) : `title:${keyText(title)}`;
  if (progId && !progId.endsWith('0000')) return { seriesKey, episodeKey: progId };
  if (episode !== undefined) return { seriesKey, episodeKey: `${seriesKey}/${season ?? ''}.${episode}` };
  if (episodeTitle !== undefined) return { seriesKey, episodeKey: `${seriesKey}/${keyText(episodeTitle)}` };
  return { seriesKey };
}

function yearOf(entry: Element): number | undefined {
  const [date = ''] = textsOf(entry, 'date', 20);
  const year = Number(/^(\d{4})/.exec(date)?.[1] ?? Number.NaN);
  return year >= 1870 && year <= 2200 ? year : undefined;
}

function airDateOf(entry: Element): string | undefined {
  const [shown] = childrenOf(entry, 'previously-shown').map(({ attributes }) => attributes['start'] ?? '');
  const [date] = textsOf(entry, 'date', 20);
  for (const text of [shown, date]) {
    const [, year, month, day] = /^(\d{4})-?(\d{2})-?(\d{2})/.exec(text ?? '') ?? [];
    const found = year && calendarDay(`${year}-${month}-${day}`);
    if (found) return found;
  }
  return undefined;
}

function ratingOf(entry: Element): Pick<Programme, 'ageRating' | 'ageYears'> {
  const all = childrenOf(entry, 'rating').flatMap((rating) => textsOf(rating, 'value', 40));
  const rated = all.map((text) => ({ text, years: ageYears(text) }));
  const [strictest] = rated.toSorted((a, b) => (b.years ?? -1) - (a.years ?? -1));
  return given({ ageRating: strictest?.text, ageYears: strictest?.years });
}

/** Of ten. */
function starsOf(entry: Element): number | undefined {
  for (const text of childrenOf(entry, 'star-rating').flatMap((rating) => textsOf(rating, 'value', 20))) {
    const [, stars, most] = /^(\d{1,3}(?:\.\d{1,3})?) ?\/ ?(\d{1,3}(?:\.\d{1,3})?)$/.exec(text) ?? [];
    if (stars && Number(most) > 0) return Math.min(10, Math.round((Number(stars) / Number(most)) * 100) / 10);
  }
  return undefined;
}

function hdOf(entry: Element): boolean | undefined {
  const quality = childrenOf(entry, 'video').flatMap((video) => textsOf(video, 'quality', 20));
  return quality.length === 0 ? undefined : quality.some((text) => /hd|1080|720|2160|4k/i.test(text));
}

function creditsOf(entry: Element): Credit[] {
  const [all] = childrenOf(entry, 'credits');
  return (all?.children ?? [])
    .map(({ name, text }) => ({ name: plain(text, 120), role: plain(name, 40) }))
    .filter(({ name }) => name !== '')
    .slice(0, 50);
}

/** Columns of a line, in its order. */
export const LINE_COLUMNS = [
  ...['n', 'id', 'guide_id', 'start_at', 'end_at', 'title', 'episode_title', 'description', 'kind', 'categories'],
  ...['season_number', 'episode_number', 'episode_key', 'series_key', 'is_new', 'is_live', 'is_repeat', 'is_premiere'],
  ...['year', 'original_air_date', 'age_rating', 'age_years', 'star_rating', 'hd', 'credits', 'hash'],
] as const;

const SIGNS: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const field = (value: string | number | boolean | undefined): string =>
  value === undefined ? '\\N' : String(value).replace(/[\\\t\n\r]/g, (sign) => SIGNS[sign] ?? sign);
const list = (all: readonly string[]): string =>
  `{${all.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
const moment = (ms: number): string => new Date(ms).toISOString();

/** The programme as a line of COPY with its end; `n` is its place in the guide. */
export function lineOf(programme: Programme, { n, id }: { n: number; id: string }): string {
  const { channel, startMs, endMs, title, episodeTitle, description, kind, categories, season, episode } = programme;
  const { episodeKey, seriesKey, isNew, isLive, isRepeat, isPremiere, year, originalAirDate } = programme;
  const { ageRating, ageYears: years, starRating, hd, credits } = programme;
  const rest = [
    ...[field(title), field(episodeTitle), field(description), kind, field(list(categories)), field(season)],
    ...[field(episode), field(episodeKey), field(seriesKey), isNew, isLive, isRepeat, isPremiere, field(year)],
    ...[field(originalAirDate), field(ageRating), field(years), field(starRating), field(hd)],
    field(JSON.stringify(credits)),
  ].join('\t');
  const place = [n, id, field(channel), moment(startMs), endMs === undefined ? '\\N' : moment(endMs)].join('\t');
  return `${place}\t${rest}\t\\\\x${hash('sha1', rest)}\n`;
}
