import type { Found, MatchedBy, Wanted } from '../providers/provider.ts';
import { likeness } from './likeness.ts';

/** The least score of each match; a surer one always comes first. */
const BASE: Readonly<Record<MatchedBy, number>> = { hash: 88, id: 68, episode: 54, release: 34, title: 14 };
const LIKENESS = 6;
const DOWNLOADS = 3;
const RATE = 2;

/** 0 to 100: how it was recognised, then how well release, frame rate and other people's choice fit. */
export function scoreOf(found: Found, wanted: Wanted): number {
  const base = BASE[found.matchedBy];
  if (found.translatedByMachine) return base - 6;
  const alike = wanted.release === undefined ? 0 : likeness(wanted.release, found.release);
  const popular = Math.min(1, Math.log10((found.downloads ?? 0) + 1) / 5);
  const rated = (found.rating ?? 0) / 10;
  const sameRate = found.frameRate !== undefined && Math.abs(found.frameRate - (wanted.frameRate ?? 0)) < 0.01;
  return Math.round(base + LIKENESS * alike + DOWNLOADS * popular + rated + (sameRate ? RATE : 0));
}
