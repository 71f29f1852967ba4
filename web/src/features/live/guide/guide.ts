// The programme guide: its queries, and times in words.
import type { GuideProgram, GuideSource, LiveProgram } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { keyOf } from '#core/api/keys.ts';
import { invalidate } from '#core/cache/query.ts';
import * as m from '#messages/guide.ts';
import type { ResponseOf } from '../../../../../api/client/index.ts';

const MINUTE = 60_000;
export const HALF_HOUR = 30 * MINUTE;
/** Hours that are shown at a time. */
export const SPAN_HOURS = 4;
const SPAN = SPAN_HOURS * 60 * MINUTE;
/** The guide goes so far back and ahead. */
const BEFORE = 2 * 24 * 60 * MINUTE;
const AFTER = 21 * 24 * 60 * MINUTE;

export const halfHourOf = (time: number): number => Math.floor(time / HALF_HOUR) * HALF_HOUR;

/** The start of the window after a step of windows, within the guide. */
export function stepped(from: number, steps: number, now: number): number {
  const to = from + steps * SPAN;
  return halfHourOf(Math.min(now + AFTER - SPAN, Math.max(now - BEFORE + HALF_HOUR, to)));
}

type GuidePage = ResponseOf<'getLiveGuide'>;

/** The rows of a window, page by page, for createInfiniteQuery. */
export function guidePages(from: number) {
  const window = { from: new Date(from).toISOString(), to: new Date(from + SPAN).toISOString() };
  return {
    queryKey: [...keyOf('getLiveGuide', { query: window }), 'pages'],
    queryFn: ({ signal, pageParam }: { signal: AbortSignal; pageParam: string }): Promise<GuidePage> =>
      api.getLiveGuide({ query: { ...window, limit: 50, ...(pageParam && { cursor: pageParam }) }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ page }: GuidePage): string | undefined => page.cursor ?? undefined,
    staleTime: 5 * MINUTE,
    refetchInterval: 5 * MINUTE,
  };
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const dated = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export const timeOf = (at: number | string): string => clock.format(new Date(at));
export const dayOf = (at: number | string): string => dated.format(new Date(at));
export const whenOf = ({ startAt, endAt }: Pick<GuideProgram, 'startAt' | 'endAt'>): string =>
  `${dayOf(startAt)}, ${timeOf(startAt)} – ${timeOf(endAt)}`;

/** Shares of the window that a programme takes, 0 to 1. */
export function placeOf({ startAt, endAt }: GuideProgram, from: number): { start: number; width: number } {
  const start = Math.max(0, (Date.parse(startAt) - from) / SPAN);
  return { start, width: Math.min(1, (Date.parse(endAt) - from) / SPAN) - start };
}

export const shareOf = (time: number, from: number): number => (time - from) / SPAN;

export const isOn = ({ startAt, endAt }: GuideProgram, now: number): boolean =>
  Date.parse(startAt) <= now && Date.parse(endAt) > now;

/** The line below the title of a programme. */
export function about({ seasonNumber, episodeNumber, episodeTitle, year }: LiveProgram): string {
  const numbers =
    seasonNumber !== undefined && episodeNumber !== undefined
      ? m.episode({ season: String(seasonNumber), episode: String(episodeNumber) })
      : '';
  return [episodeTitle, numbers, year].filter(Boolean).join(' · ');
}

const readAgain = (): Promise<unknown> =>
  Promise.all([invalidate('getLiveGuide'), invalidate('listLivePrograms'), invalidate('getLiveProgram')]);

export async function remind({ id, reminder }: LiveProgram): Promise<void> {
  if (reminder) await api.removeProgramReminder({ params: { id } });
  else await api.setProgramReminder({ params: { id }, body: {} });
  await readAgain();
}

/** State, size and time of a source in one line. */
export function describe(source: GuideSource): string {
  const { state, error, lastRefreshAt, coverageUntil } = source;
  const states: Record<GuideSource['state'], () => string> = {
    never: m.never,
    refreshing: m.refreshing,
    ready: () => m.ready({ time: lastRefreshAt ? full.format(new Date(lastRefreshAt)) : '' }),
    failed: () => m.failed({ message: error?.message ?? '' }),
  };
  return [
    source.enabled ? states[state]() : m.disabled(),
    source.uploaded ? m.uploaded() : (source.url ?? ''),
    m.channels({ count: source.channels }),
    m.programmes({ count: source.programs }),
    coverageUntil ? m.until({ time: full.format(new Date(coverageUntil)) }) : '',
    source.managedBy ? m.managed() : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Runs a change of sources or mappings and reads what it changed again. */
export async function changed<T>(work: () => Promise<T>): Promise<T> {
  const answer = await work();
  await Promise.all([invalidate('listGuideSources'), invalidate('listGuideSourceChannels'), readAgain()]);
  return answer;
}

export interface NewSource {
  name: string;
  url: string;
  file: File | undefined;
}

export function addSource({ name, url, file }: NewSource): Promise<unknown> {
  if (!file) return changed(() => api.createGuideSource({ body: { name, kind: 'xmltv', url } }));
  const form = new FormData();
  form.append('name', name);
  form.append('kind', 'xmltv');
  form.append('file', file);
  return changed(() => api.createGuideSource({ body: form as never }));
}
