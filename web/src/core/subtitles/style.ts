// How text subtitles look, and their offset, which this browser keeps for each track.
import type { SubtitleStyle } from '../../../../api/client/index.ts';

export const SIZES = [75, 100, 125, 150, 200] as const;
export const OFFSET_STEP_MS = 50;
const MOST_OFFSET_MS = 3_600_000;

const FAMILIES: Readonly<Record<SubtitleStyle['family'], string>> = {
  body: 'var(--fy-type-family-subtitle)',
  serif: 'ui-serif, Georgia, serif',
  mono: 'ui-monospace, "Liberation Mono", monospace',
  casual: '"Comic Neue", "Comic Sans MS", cursive',
};

/** A soft shadow in four directions is legible on every picture. */
const EDGES: Readonly<Record<SubtitleStyle['edge'], string>> = {
  none: 'none',
  outline:
    '0.06em 0.06em 0 #000, -0.06em 0.06em 0 #000, 0.06em -0.06em 0 #000, -0.06em -0.06em 0 #000, 0 0 0.12em #000',
  shadow: '0.05em 0.08em 0.12em rgb(0 0 0 / 0.9), 0 0 0.3em rgb(0 0 0 / 0.6)',
};

const COLOR = /^#[0-9a-f]{3,8}$/i;

/** Values of CSS custom properties of the overlay; nothing else of the style reaches the page. */
export function cssOf(style: SubtitleStyle): Record<string, string> {
  const color = (value: string, other: string): string => (COLOR.test(value) ? value : other);
  return {
    '--subtitle-size': String(style.sizePercent / 100),
    '--subtitle-color': color(style.color, 'var(--fy-player-subtitle-text)'),
    '--subtitle-background': color(style.background, 'var(--fy-player-subtitle-background)'),
    '--subtitle-edge': EDGES[style.edge],
    '--subtitle-bottom': `${style.bottomPercent}%`,
    '--subtitle-family': FAMILIES[style.family],
    '--subtitle-weight': String(style.weight),
  };
}

type Home = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
const keyOf = (streamId: string): string => `foyer.offset.${streamId}`;

export function offsetOf(home: Home, streamId: string | null): number {
  const kept = Number(streamId && home.getItem(keyOf(streamId)));
  return Number.isFinite(kept) ? kept : 0;
}

/** Keeps the offset of a track; returns it within its bounds. */
export function keepOffset(home: Home, streamId: string, offsetMs: number): number {
  const kept = Math.min(MOST_OFFSET_MS, Math.max(-MOST_OFFSET_MS, Math.round(offsetMs)));
  if (kept === 0) home.removeItem(keyOf(streamId));
  else home.setItem(keyOf(streamId), String(kept));
  return kept;
}
