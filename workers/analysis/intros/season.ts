import type { FoundMarker } from '#areas/libraries/public.ts';
import { commonPart, type Span } from './match.ts';
import { type Sound, STEP_MS } from './sound.ts';

export interface Episode {
  itemId: string;
  fileId: string;
  sound: Sound;
}

/** Episodes that each one is compared with, on both sides of it. */
const NEIGHBOURS = 4;
/** Two parts are the same opening when they share this much of both. */
const SAME = 0.5;

interface Heard extends Span {
  partner: string;
}

/**
 * The opening of each episode: the longest part that it shares with its neighbours, where two of them have it; one is
 * enough in a season of two. Episodes are in the order of the season.
 */
export function openingsOf(episodes: readonly Episode[]): Map<string, FoundMarker> {
  const heard = compared(episodes);
  const openings = new Map<string, FoundMarker>();
  for (const { fileId, sound } of episodes) {
    const { parts, partners } = heard.get(fileId) as Compared;
    const found = chosen(parts, partners > 1 ? 2 : 1);
    if (found) openings.set(fileId, markerOf(found, sound, parts.length / partners));
  }
  return openings;
}

/** How an episode compares with its neighbours. */
interface Compared {
  parts: Heard[];
  /** Episodes that it was compared with. */
  partners: number;
}

function compared(episodes: readonly Episode[]): Map<string, Compared> {
  const all = new Map(episodes.map(({ fileId }): [string, Compared] => [fileId, { parts: [], partners: 0 }]));
  const note = (of: Episode, other: Episode, span: Span | undefined): void => {
    const entry = all.get(of.fileId) as Compared;
    entry.partners += 1;
    if (span) entry.parts.push({ ...span, partner: other.itemId });
  };
  for (const [i, one] of episodes.entries()) {
    const following = episodes.slice(i + 1).filter(({ itemId }) => itemId !== one.itemId);
    for (const other of following.slice(0, NEIGHBOURS)) {
      const common = commonPart(one.sound, other.sound);
      note(one, other, common?.a);
      note(other, one, common?.b);
    }
  }
  return all;
}

/** The longest part that enough different episodes have, in the place of most of them. */
function chosen(all: readonly Heard[], needed: number): Heard | undefined {
  const byLength = [...all].sort((a, b) => b.endMs - b.startMs - (a.endMs - a.startMs));
  return byLength.find((one) => {
    const same = all.filter((other) => overlap(one, other) >= SAME);
    return new Set(same.map(({ partner }) => partner)).size >= needed;
  });
}

function overlap(a: Span, b: Span): number {
  const both = Math.min(a.endMs, b.endMs) - Math.max(a.startMs, b.startMs);
  const either = Math.max(a.endMs, b.endMs) - Math.min(a.startMs, b.startMs);
  return Math.max(0, both) / either;
}

/** Half decibels: -50 dB. */
const SILENT = 92;
const SILENCE_STEPS = Math.round(330 / STEP_MS);
/** A silence so near the end is the end. */
const SNAP_STEPS = 25;

/** The part with its end at the silence that it ends in. */
function markerOf({ startMs, endMs }: Span, { loudness }: Sound, share: number): FoundMarker {
  const end = Math.round(endMs / STEP_MS);
  const silentFrom = silenceAbout(loudness, end);
  const snapped = silentFrom === undefined ? endMs : silentFrom * STEP_MS;
  return { kind: 'intro', startMs, endMs: snapped, confidence: Math.round(Math.min(1, 0.5 + share / 2) * 100) / 100 };
}

/** Where the silence begins that holds the step, or lies near it. */
function silenceAbout(loudness: Uint8Array, end: number): number | undefined {
  const isSilent = (step: number): boolean => (loudness[step] ?? 255) < SILENT;
  for (let at = end - SNAP_STEPS; at <= end + SNAP_STEPS; at += 1) {
    if (!isSilent(at)) continue;
    let [from, to] = [at, at];
    while (isSilent(from - 1)) from -= 1;
    while (isSilent(to + 1)) to += 1;
    if (to - from + 1 >= SILENCE_STEPS) return from;
    at = to;
  }
  return undefined;
}
