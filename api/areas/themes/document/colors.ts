// Parses and prints colours of tokens, and converts them to the colour spaces of screens.
import { createRequire } from 'node:module';
import type { Color, Oklch, Rgb } from 'culori';

type Culori = typeof import('culori');
const load = createRequire(import.meta.url);
let loaded: Culori | undefined;

/** Loaded with the first colour, to keep the start of the process fast. */
function culori(): Culori {
  loaded ??= load('culori') as Culori;
  return loaded;
}

const inRgb = (color: Color): boolean => culori().inGamut('rgb')(color);

const HEX = /^#[0-9a-f]{6}(?:[0-9a-f]{2})?$/i;
const OKLCH =
  /^oklch\(\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+))(%?)\s+([+-]?(?:\d+(?:\.\d*)?|\.\d+))\s+([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:deg)?\s*(?:\/\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+))(%?)\s*)?\)$/i;
const MOST_CHROMA = 0.5;

/** At most four decimals, without trailing zeros. */
export const short = (value: number): number => Number(value.toFixed(4)) + 0;

/** The colour in its printed form, or why it is invalid. */
export function readColor(text: string): string | { code: 'bad_value' | 'out_of_range' } {
  if (text.length > 80) return { code: 'bad_value' };
  if (HEX.test(text)) return text.toLowerCase();
  const parts = OKLCH.exec(text.trim());
  if (!parts) return { code: 'bad_value' };
  const [, l, percent, c, h, alpha = '1', alphaPercent] = parts;
  const color = { l: share(l, percent), c: Number(c), h: Number(h), alpha: share(alpha, alphaPercent) };
  return isColor(color) ? printOklch({ mode: 'oklch', ...color }) : { code: 'out_of_range' };
}

const share = (number: string | undefined, percent: string | undefined): number => Number(number) / (percent ? 100 : 1);

function isColor({ l, c, h, alpha }: { l: number; c: number; h: number; alpha: number }): boolean {
  return isBetween(l, 0, 1) && isBetween(c, 0, MOST_CHROMA) && isBetween(h, 0, 360) && isBetween(alpha, 0, 1);
}

const isBetween = (value: number, min: number, max: number): boolean => value >= min && value <= max;

function printOklch({ l, c, h = 0, alpha = 1 }: Oklch): string {
  const tail = alpha < 1 ? ` / ${short(alpha)}` : '';
  return `oklch(${short(l)} ${short(c)} ${short(h)}${tail})`;
}

/** Parses a printed colour. */
function colorOf(printed: string): Color {
  const parts = OKLCH.exec(printed);
  if (parts)
    return {
      mode: 'oklch',
      l: Number(parts[1]),
      c: Number(parts[3]),
      h: Number(parts[4]),
      alpha: Number(parts[5] ?? 1),
    };
  const channel = (at: number): number => Number.parseInt(printed.slice(at, at + 2), 16) / 255;
  return { mode: 'rgb', r: channel(1), g: channel(3), b: channel(5), alpha: printed.length > 7 ? channel(7) : 1 };
}

/** `#rrggbb`, or `#rrggbbaa` if it is not opaque; chroma is reduced for colours outside sRGB. */
export function srgbOf(printed: string): string {
  const color = colorOf(printed);
  const shown = inRgb(color) ? color : culori().clampChroma(color, 'oklch', 'rgb');
  return (color.alpha ?? 1) < 1 ? culori().formatHex8(shown) : culori().formatHex(shown);
}

/** `color(display-p3 …)`; undefined for colours inside sRGB. */
export function wideOf(printed: string): string | undefined {
  const color = colorOf(printed);
  if (inRgb(color)) return undefined;
  const { r, g, b, alpha = 1 } = culori().converter('p3')(culori().clampChroma(color, 'oklch', 'p3'));
  const channels = [r, g, b].map((value) => short(Math.min(1, Math.max(0, value)))).join(' ');
  return `color(display-p3 ${channels}${alpha < 1 ? ` / ${short(alpha)}` : ''})`;
}

/** The colour of `top` on an opaque background. */
function over(top: Rgb, ground: Rgb): Rgb {
  const { alpha = 1 } = top;
  const mix = (a: number, b: number): number => a * alpha + b * (1 - alpha);
  return { mode: 'rgb', r: mix(top.r, ground.r), g: mix(top.g, ground.g), b: mix(top.b, ground.b) };
}

/** WCAG contrast in sRGB of `text` on `surface`, which lies on `page`. */
export function contrastOf(text: string, surface: string, page: string): number {
  const [top, middle, bottom] = [text, surface, page].map((one) => culori().converter('rgb')(colorOf(srgbOf(one)))) as [
    Rgb,
    Rgb,
    Rgb,
  ];
  const black: Rgb = { mode: 'rgb', r: 0, g: 0, b: 0 };
  const ground = over(middle, over(bottom, black));
  return culori().wcagContrast(over(top, ground), ground);
}
