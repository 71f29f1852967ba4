import type { Rung } from '#platform/settings.ts';

export interface Frame {
  width: number;
  height: number;
}

const even = (n: number): number => Math.max(2, Math.round(n / 2) * 2);

/** Scales the frame into the bounds, with its aspect ratio and even sides. Never enlarges it. */
export function fitFrame(
  frame: Frame,
  bounds: { maxWidth?: number | undefined; maxHeight?: number | undefined },
): Frame {
  const scale = Math.min(1, (bounds.maxWidth ?? Infinity) / frame.width, (bounds.maxHeight ?? Infinity) / frame.height);
  return { width: even(frame.width * scale), height: even(frame.height * scale) };
}

/** The height of a rung assumes 16:9; a wider film uses its width. */
export function rungFrame(frame: Frame, rung: Rung): Frame {
  return fitFrame(frame, { maxWidth: Math.round((rung.height * 16) / 9), maxHeight: rung.height });
}

/** Rungs not above the source, best first. The lowest video rung is always included. */
export function rungsFor(frame: Frame, ladder: readonly Rung[], cap: { bitrate: number; height: number }): Rung[] {
  const video = ladder.filter((rung) => rung.height > 0).sort((a, b) => b.videoBitrate - a.videoBitrate);
  const nominal = Math.max(frame.height, Math.round((frame.width * 9) / 16));
  const lowest = video.at(-1);
  const fitting = video.filter(
    (rung) =>
      rung.height <= Math.min(snapUp(nominal, video), cap.height) &&
      rung.videoBitrate + rung.audioBitrate <= cap.bitrate,
  );
  return fitting.length > 0 || !lowest ? fitting : [lowest];
}

/** The smallest rung height that contains the source: 700 lines are encoded as 720p, not as 480p. */
function snapUp(height: number, video: readonly Rung[]): number {
  const above = video.map((rung) => rung.height).filter((one) => one >= height * 0.9);
  return above.length > 0 ? Math.min(...above) : Infinity;
}
