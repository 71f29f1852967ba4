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

/** The rules of the setting, or disabled rules without one. */
export function prerollRules(settings: Pick<Settings, 'get'>): PrerollRules {
  const parsed = PrerollRules.safeParse(settings.get('playback.preroll'));
  return parsed.success ? parsed.data : OFF;
}

/** The viewer and the item before which clips play. */
export interface PrerollOptions {
  libraryId: string;
  itemType: string;
  /** The viewer resumes. */
  resumes: boolean;
  /** `MM-DD` in the server's time zone. */
  day: string;
  /** Years; absent is no limit. */
  ageLimit?: number | undefined;
  /** The last clips of this profile. */
  recent: readonly string[];
  /** In [0, 1). */
  random(): number;
}

const REMEMBERED = 3;

/** The clips before an item: ready, in season, of that library and within the age limit. */
export function choosePrerolls(
  rules: PrerollRules,
  clips: readonly (PrerollRow & { ageYears: number })[],
  options: PrerollOptions,
): PrerollRow[] {
  if (!rules.enabled || (options.resumes && !rules.resumeToo)) return [];
  if (!(rules.itemTypes as string[]).includes(options.itemType)) return [];
  const fitting = clips.filter(
    (clip) =>
      clip.state === 'ready' &&
      (clip.library_ids.length === 0 || clip.library_ids.includes(options.libraryId)) &&
      inSeason(clip.season, options.day) &&
      (options.ageLimit === undefined || clip.ageYears <= options.ageLimit),
  );
  if (rules.pick !== 'random') return fitting.slice(0, rules.pick === 'all' ? 5 : rules.maxClips);
  return drawn(fitting, rules.maxClips, options);
}

/** When `from` is after `to`, the season crosses the new year. */
export function inSeason(season: PrerollRow['season'], day: string): boolean {
  if (!season) return true;
  const { from, to } = season;
  return from <= to ? from <= day && day <= to : day >= from || day <= to;
}

/** Draws by weight without duplicates. The last three clips come only when no other is left. */
function drawn(clips: readonly PrerollRow[], count: number, options: PrerollOptions): PrerollRow[] {
  const last = new Set(options.recent.slice(0, REMEMBERED));
  const fresh = clips.filter((clip) => !last.has(clip.id));
  const left = fresh.length > 0 ? [...fresh] : [...clips];
  const chosen: PrerollRow[] = [];
  while (left.length > 0 && chosen.length < count) {
    let ticket = options.random() * left.reduce((sum, clip) => sum + clip.weight, 0);
    const at = left.findIndex((clip) => {
      ticket -= clip.weight;
      return ticket < 0;
    });
    chosen.push(...left.splice(Math.max(at, 0), 1));
  }
  return chosen;
}
