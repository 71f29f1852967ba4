// Channels and programmes of a guide, as they are stored.
import { hash } from 'node:crypto';
import { ageYears } from '#platform/age-ratings.ts';
import { folded } from '#platform/agents/score.ts';
import { calendarDay } from '#platform/calendar.ts';
import { kindOf, type ProgramKind } from './kinds.ts';
import { type Numbers, numbersOf } from './numbers.ts';
import { isoOf, timeOf } from './times.ts';
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
  /** Undefined without a stop: it ends where the next one of its channel begins. */
  endMs: number | undefined;
  title: string;
  episodeTitle: string | undefined;
  description: string | undefined;
  kind: ProgramKind;
  categories: string[];
  season: number | undefined;
  episode: number | undefined;
  episodeKey: string | undefined;
  seriesKey: string | undefined;
  isNew: boolean;
  isLive: boolean;
  isRepeat: boolean;
  isPremiere: boolean;
  year: number | undefined;
  originalAirDate: string | undefined;
  ageRating: string | undefined;
  ageYears: number | undefined;
  starRating: number | undefined;
  hd: boolean | undefined;
  credits: Credit[];
}

export const MOST_ID = 200;
const MOST_NAME = 200;
const MOST_TITLE = 300;
const MOST_DESCRIPTION = 4000;
const MOST_KEY = 120;
/** The longest programme; a longer one is a fault of the guide. */
const LONGEST_MS = 24 * 3_600_000;

/** Most texts have none: a white space that is no single space, NUL, a half of a character. */
const NOT_PLAIN = /[^\S ]|\s\s|^\s|\s$|[\0\ud800-\udfff]/;

/** The text in one line without NUL and broken characters. */
function plain(text: string, most: number): string {
  if (text.length <= most && !NOT_PLAIN.test(text)) return text;
  return text.toWellFormed().replaceAll('\0', '').replace(/\s+/g, ' ').trim().slice(0, most).toWellFormed();
}

const childrenOf = (entry: Element, name: string): Element[] => entry.children.filter((child) => child.name === name);
function textsOf(entry: Element, name: string, most: number): string[] {
  const texts: string[] = [];
  for (const child of entry.children) {
    const text = child.name === name ? plain(child.text, most) : '';
    if (text !== '') texts.push(text);
  }
  return texts;
}
/** Texts of elements inside those of a name. */
const textsIn = (entry: Element, [name, inner]: readonly [string, string], most: number): string[] =>
  has(entry, name) ? childrenOf(entry, name).flatMap((one) => textsOf(one, inner, most)) : [];
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
  return describedBy(entry, { channel, title, ...times });
}

type Place = Pick<Programme, 'channel' | 'startMs' | 'endMs' | 'title'>;

/** All members in one literal: to join objects would take longer than to read them. */
function describedBy(entry: Element, { channel, startMs, endMs, title }: Place): Programme {
  const [episodeTitle] = textsOf(entry, 'sub-title', MOST_TITLE);
  const [description] = textsOf(entry, 'desc', MOST_DESCRIPTION);
  const categories = [...new Set(textsOf(entry, 'category', 60))].slice(0, 20);
  const { progId, season, episode } = numbersIn(entry);
  const isFilm = progId?.startsWith('MV') === true;
  const isEpisode = !isFilm && (episode !== undefined || progId?.startsWith('EP') === true);
  const kind = isFilm ? 'movie' : kindOf(categories, isEpisode);
  const year = yearOf(entry);
  const { seriesKey, episodeKey } = keysOf({ title, episodeTitle, kind, year, progId, season, episode });
  const rating = ratingOf(entry);
  const isNew = has(entry, 'new');
  return {
    channel,
    startMs,
    endMs,
    title,
    episodeTitle,
    description,
    kind,
    categories,
    season,
    episode,
    episodeKey,
    seriesKey,
    isNew,
    isLive: has(entry, 'live'),
    isRepeat: !isNew && has(entry, 'previously-shown'),
    isPremiere: has(entry, 'premiere'),
    year,
    originalAirDate: airDateOf(entry),
    ageRating: rating?.text,
    ageYears: rating?.years,
    starRating: starsOf(entry),
    hd: hdOf(entry),
    credits: creditsOf(entry),
  };
}

function timesOf({ attributes }: Element, shiftMs: number): { startMs: number; endMs: number | undefined } | undefined {
  const start = timeOf(attributes['start'] ?? '');
  if (start === undefined) return undefined;
  const { stop } = attributes;
  if (stop === undefined) return { startMs: start + shiftMs, endMs: undefined };
  const end = timeOf(stop);
  if (end === undefined || end <= start || end - start > LONGEST_MS) return undefined;
  return { startMs: start + shiftMs, endMs: end + shiftMs };
}

const numbersIn = (entry: Element): Numbers =>
  numbersOf(
    childrenOf(entry, 'episode-num').map(({ attributes, text }) => ({ system: attributes['system'] ?? '', text })),
  );

interface Named extends Pick<Programme, 'title' | 'episodeTitle' | 'kind' | 'year' | 'season' | 'episode'> {
  progId: string | undefined;
}

const keyText = (text: string): string => folded(text).slice(0, MOST_KEY);

/**
 * What makes two airings the same: the id of Gracenote, else the series with the numbers or the title of the episode, or the
 * film with its year. Ids that end in 0000 name the series alone.
 */
function keysOf(named: Named): { seriesKey?: string; episodeKey?: string } {
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

/** The strictest. */
function ratingOf(entry: Element): { text: string; years: number | undefined } | undefined {
  const all = textsIn(entry, ['rating', 'value'], 40);
  if (all.length === 0) return undefined;
  const rated = all.map((text) => ({ text, years: ageYears(text) }));
  return rated.toSorted((a, b) => (b.years ?? -1) - (a.years ?? -1))[0];
}

/** Of ten. */
function starsOf(entry: Element): number | undefined {
  for (const text of textsIn(entry, ['star-rating', 'value'], 20)) {
    const [, stars, most] = /^(\d{1,3}(?:\.\d{1,3})?) ?\/ ?(\d{1,3}(?:\.\d{1,3})?)$/.exec(text) ?? [];
    if (stars && Number(most) > 0) return Math.min(10, Math.round((Number(stars) / Number(most)) * 100) / 10);
  }
  return undefined;
}

function hdOf(entry: Element): boolean | undefined {
  const quality = textsIn(entry, ['video', 'quality'], 20);
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
const SIGN = /[\\\t\n\r]/;
const escaped = (text: string): string => text.replace(/[\\\t\n\r]/g, (sign) => SIGNS[sign] ?? sign);
const field = (text: string | undefined): string =>
  text === undefined ? '\\N' : SIGN.test(text) ? escaped(text) : text;
const value = (one: number | boolean | undefined): string => (one === undefined ? '\\N' : String(one));
const list = (all: readonly string[]): string =>
  `{${all.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
const moment = (ms: number | undefined): string => (ms === undefined ? '\\N' : isoOf(ms));

/** The programme as a line of COPY with its end; `n` is its place in the guide. */
export function lineOf(programme: Programme, { n, id }: { n: number; id: string }): string {
  const { channel, startMs, endMs, title, episodeTitle, description, kind, categories, season, episode } = programme;
  const { episodeKey, seriesKey, isNew, isLive, isRepeat, isPremiere, year, originalAirDate } = programme;
  const { ageRating, ageYears: years, starRating, hd, credits } = programme;
  const texts = `${field(title)}\t${field(episodeTitle)}\t${field(description)}\t${kind}\t${field(list(categories))}`;
  const numbers = `${value(season)}\t${value(episode)}\t${field(episodeKey)}\t${field(seriesKey)}`;
  const flags = `${isNew}\t${isLive}\t${isRepeat}\t${isPremiere}\t${value(year)}\t${field(originalAirDate)}`;
  const rating = `${field(ageRating)}\t${value(years)}\t${value(starRating)}\t${value(hd)}`;
  const people = credits.length === 0 ? '[]' : field(JSON.stringify(credits));
  const rest = `${texts}\t${numbers}\t${flags}\t${rating}\t${people}`;
  return `${n}\t${id}\t${field(channel)}\t${moment(startMs)}\t${moment(endMs)}\t${rest}\t\\\\x${hash('sha1', rest)}\n`;
}
