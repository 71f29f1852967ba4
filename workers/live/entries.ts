// What tuners offer: entries of a lineup or playlist, and which of them are chosen.
import { RE2JS } from 're2js';
import type { Choice } from '#areas/live-tv/public.ts';
import { globMatcher } from '../tuner/glob.ts';

/** One entry of a lineup or playlist. */
export interface Entry {
  /** How a device numbers it; of a playlist its tvg-chno. */
  number: string | undefined;
  name: string;
  url: string;
  group?: string | undefined;
  guideId?: string | undefined;
  logo?: string | undefined;
  quality: 'sd' | 'hd' | 'uhd' | 'audio' | undefined;
  radio: boolean;
  drm: boolean;
}

export interface LiveLineup {
  kind: 'hdhomerun' | 'm3u';
  entries: Entry[];
  skipped: number;
  device?: { id: string; model: string; firmware: string };
  slotCount?: number;
  /** Address of the guide that it names. */
  guide?: string;
}

/** The entries that include names, without those that exclude names. An absent or empty include names all. */
export function chosenOf(
  entries: readonly Entry[],
  { include, exclude }: { include: Choice | null; exclude: Choice | null },
): Entry[] {
  const taken = include && hasTerms(include) ? matcherOf(include) : () => true;
  const left = exclude ? matcherOf(exclude) : () => false;
  return entries.filter((entry) => taken(entry) && !left(entry));
}

const hasTerms = ({ groups, match, globs }: Choice): boolean =>
  groups.length > 0 || match !== undefined || (globs?.length ?? 0) > 0;

function matcherOf({ groups, match, globs = [] }: Choice): (entry: Entry) => boolean {
  const named = new Set(groups);
  const expression = match === undefined ? undefined : RE2JS.compile(match);
  const tests = globs.map(globMatcher);
  return ({ name, number = '', group }) =>
    (group !== undefined && named.has(group)) ||
    (expression?.matcher(name).find() ?? false) ||
    tests.some((test) => test(name) || test(number));
}
