// Picture packets at the times of a correction.
import { shownAt, type Timing } from '#platform/subtitles/timing.ts';
import type { PicturePacket } from './display-sets.ts';
import { type PictureStretch, sinceClear } from './matroska-pictures.ts';

interface Window {
  fromMs: number;
  toMs: number;
}

/** Reads a window of the track's own times; `left` is how many bytes it may read. */
export type ReadWindow = (window: Window, left: number) => Promise<PictureStretch>;

/** Bytes that one stretch may read; the rest of a longer one is left for the next request. */
const MOST_READ = 56 << 20;

export interface ShownPictures extends Pick<PictureStretch, 'codec' | 'header' | 'packets'> {
  untilMs?: number;
}

/**
 * The windows of the track's own times that are shown in a stretch. A gap between two pieces of the correction has none;
 * then the last time before it is read.
 */
export function windowsOf({ offsetMs, rate, pieces }: Timing, { fromMs, toMs }: Window): Window[] {
  const parts = [{ fromMs: Number.NEGATIVE_INFINITY, offsetMs }, ...pieces];
  const windows: Window[] = [];
  let before = 0;
  for (const [i, part] of parts.entries()) {
    const end = parts[i + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
    const from = Math.max(0, part.fromMs, Math.floor((fromMs - part.offsetMs) / rate));
    const to = Math.min(end, Math.ceil((toMs - part.offsetMs) / rate));
    const last = windows.at(-1);
    if (last && to > from && last.toMs >= from) last.toMs = to;
    else if (to > from) windows.push({ fromMs: from, toMs: to });
    if (part.fromMs * rate + part.offsetMs <= fromMs) before = Math.max(before, Math.min(end, from));
  }
  return windows.length > 0 ? windows : [{ fromMs: before, toMs: before }];
}

/** The packets that are shown in a stretch, after those that build the picture at its beginning. */
export async function shownPictures(timing: Timing, stretch: Window, read: ReadWindow): Promise<ShownPictures> {
  const found = new Map<string, PicturePacket>();
  let [left, cut] = [MOST_READ, Number.POSITIVE_INFINITY];
  let of: Pick<PictureStretch, 'codec' | 'header'> | undefined;
  for (const window of windowsOf(timing, stretch)) {
    if (left <= 0) cut = Math.min(cut, shownAt(timing, window.fromMs));
    if (left <= 0) continue;
    const { packets, untilMs, loaded, ...kind } = await read(window, left);
    of = kind;
    left -= loaded;
    if (untilMs < window.toMs) cut = Math.min(cut, shownAt(timing, untilMs));
    for (const packet of packets) found.set(`${packet.timeMs} ${packet.bytes.length}`, shown(packet, timing));
  }
  if (!of) throw new Error('a stretch has at least one window');
  const inOrder = [...found.values()].sort((a, b) => a.timeMs - b.timeMs);
  const packets = sinceClear(of.codec, inOrder, { fromMs: stretch.fromMs, toMs: Math.min(stretch.toMs, cut) });
  return { ...of, packets, ...(cut < stretch.toMs && { untilMs: cut }) };
}

function shown({ timeMs, durationMs, bytes }: PicturePacket, timing: Timing): PicturePacket {
  return { timeMs: shownAt(timing, timeMs), durationMs: Math.round(durationMs * timing.rate), bytes };
}
