// How much of a broadcast the parts of a recording hold. Pure.
import type { Gap } from '#areas/live-tv/public.ts';
import { type LiveSegment, segmentEnd } from '#platform/live/segments.ts';

/** Times of reception differ from the clock of the broadcast by less. */
const TOLERANCE_MS = 1500;

export interface Window {
  fromMs: number;
  toMs: number;
}

export interface Outage extends Window {
  reason: string;
}

export interface Coverage {
  recordedMs: number;
  sizeBytes: number;
  gaps: Gap[];
}

/** Parts in order; a gap has the reason of the outage that it overlaps. */
export function coverageOf(parts: readonly LiveSegment[], window: Window, outages: readonly Outage[] = []): Coverage {
  const gaps: Window[] = [];
  let until = window.fromMs;
  for (const part of parts) {
    if (part.startMs - until > TOLERANCE_MS) gaps.push({ fromMs: until, toMs: part.startMs });
    until = Math.max(until, segmentEnd(part));
  }
  if (window.toMs - until > TOLERANCE_MS) gaps.push({ fromMs: until, toMs: window.toMs });
  return {
    recordedMs: parts.reduce((sum, { durationMs }) => sum + durationMs, 0),
    sizeBytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    gaps: gaps.map((gap) => ({ ...timesOf(gap), reason: reasonOf(gap, outages) })),
  };
}

const timesOf = ({ fromMs, toMs }: Window): { from: string; to: string } => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});

const reasonOf = (gap: Window, outages: readonly Outage[]): string =>
  outages.find(({ fromMs, toMs }) => fromMs < gap.toMs && toMs > gap.fromMs)?.reason ?? 'no-data';

/** Length of all gaps, ms. */
export const gapsMs = (gaps: readonly Gap[]): number =>
  gaps.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0);
