import type { Settings } from '#platform/settings.ts';
import { PrerollRules } from '../streaming.schemas.ts';
import type { PrerollRow } from './preroll.store.ts';

const OFF: PrerollRules = {
  enabled: false,
  pick: 'random',
  maxClips: 1,
  skippableAfterMs: null,
  itemTypes: ['movie'],
  resumeToo: false,
};

/** What the setting says; off while nobody set it. */
export function prerollRules(settings: Pick<Settings, 'get'>): PrerollRules {
  const parsed = PrerollRules.safeParse(settings.get('playback.preroll'));
  return parsed.success ? parsed.data : OFF;
}

/** For whom and before what clips are chosen. */
export interface PrerollOptions {
  libraryId: string;
  itemType: string;
  /** The viewer goes on with what was begun. */
  resumes: boolean;
  /** `MM-DD` at the server. */
  day: string;
  /** Years; absent sees everything. */
  ageLimit?: number | undefined;
  /** Clips this profile saw last. */
  recent: readonly string[];
  /** In [0, 1). */
  random(): number;
}

const REMEMBERED = 3;

/** The clips shown before an item: ready ones in season for that library and within the age limit. */
export function choosePrerolls(
  rules: PrerollRules,
  clips: readonly (PrerollRow & { ageYears: number })[],
  wish: PrerollOptions,
): PrerollRow[] {
  if (!rules.enabled || (wish.resumes && !rules.resumeToo)) return [];
  if (!(rules.itemTypes as string[]).includes(wish.itemType)) return [];
  const fitting = clips.filter(
    (clip) =>
      clip.state === 'ready' &&
      (clip.library_ids.length === 0 || clip.library_ids.includes(wish.libraryId)) &&
      inSeason(clip.season, wish.day) &&
      (wish.ageLimit === undefined || clip.ageYears <= wish.ageLimit),
  );
  if (rules.pick !== 'random') return fitting.slice(0, rules.pick === 'all' ? 5 : rules.maxClips);
  return drawn(fitting, rules.maxClips, wish);
}

/** `from` may lie after `to`: then it crosses the new year. */
export function inSeason(season: PrerollRow['season'], day: string): boolean {
  if (!season) return true;
  const { from, to } = season;
  return from <= to ? from <= day && day <= to : day >= from || day <= to;
}

/** By weight and without doubles; the last three come only when nothing else is left. */
function drawn(clips: readonly PrerollRow[], count: number, wish: PrerollOptions): PrerollRow[] {
  const last = new Set(wish.recent.slice(0, REMEMBERED));
  const fresh = clips.filter((clip) => !last.has(clip.id));
  const left = fresh.length > 0 ? [...fresh] : [...clips];
  const chosen: PrerollRow[] = [];
  while (left.length > 0 && chosen.length < count) {
    let ticket = wish.random() * left.reduce((sum, clip) => sum + clip.weight, 0);
    const at = left.findIndex((clip) => {
      ticket -= clip.weight;
      return ticket < 0;
    });
    chosen.push(...left.splice(Math.max(at, 0), 1));
  }
  return chosen;
}
