import { seasonWithin } from './seasons.ts';
import { episodeTitle, type Named, readName, tidy } from './title.ts';

/** An episode without a number. */
export interface Special {
  show: Named;
  season: number;
  title: string;
}

const SPECIAL =
  /(?<![\p{L}\d])(?:(?:christmas|halloween|holiday|easter)[\s._])?(?:specials?|ovas?|oads?|onas?|nc(?:op|ed)\d{0,2})(?![\p{L}\d])/iu;

/** `Show.S00.Pilot`, `Show S06 Christmas Special`, `[Group] Show - OVA`: a special without a number in its name. */
export function specialIn(stem: string, folder: Named | undefined): Special | undefined {
  const place = placeIn(stem);
  if (!place) return undefined;
  const { at, season } = place;
  const show = folder ?? showBefore(stem.slice(0, at));
  const rest = stem.slice(at);
  const title = episodeTitle(rest.replace(/^s\d{1,4}/i, ''));
  return show && { show, season, title: title || tidy(rest) };
}

/** The season, and where it or the word for a special begins. */
function placeIn(stem: string): { at: number; season: number } | undefined {
  const { before, season = 0 } = seasonWithin(stem) ?? { before: stem };
  const word = SPECIAL.exec(stem);
  if (!word && (season > 0 || before === stem)) return undefined;
  return { at: Math.min(before.length, word?.index ?? stem.length), season };
}

function showBefore(name: string): Named | undefined {
  return tidy(name) === '' ? undefined : readName(name);
}
