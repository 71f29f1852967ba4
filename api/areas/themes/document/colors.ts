// Colours of tokens: read, printed, and turned into what screens show.
import { createRequire } from 'node:module';
import type { Color, Oklch, Rgb } from 'culori';

type Culori = typeof import('culori');
const load = createRequire(import.meta.url);
let loaded: Culori | undefined;

/** Read when the first colour is asked for: no start waits for it. */
function culori(): Culori {
  loaded ??= load('culori') as Culori;
  return loaded;
}

const inRgb = (color: Color): boolean => culori().inGamut('rgb')(color);

const HEX = /^#[0-9a-f]{6}(?:[0-9a-f]{2})?$/i;
const OKLCH =
  /^oklch\(\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+))(%?)\s+([+-]?(?:\d+(?:\.\d*)?|\.\d+))\s+([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:deg)?\s*(?:\/\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+))(%?)\s*)?\)$/i;
const MOST_CHROMA = 0.5;

/** Four places, and no more digits than it takes. */
export const short = (value: number): number => Number(value.toFixed(4)) + 0;

/** The colour printed again; why not, when it is none. */
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

/** Of a printed colour. */
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

/** `#rrggbb`, or `#rrggbbaa` where it is not opaque: with less chroma where sRGB has no such colour. */
export function srgbOf(printed: string): string {
  const color = colorOf(printed);
  const shown = inRgb(color) ? color : culori().clampChroma(color, 'oklch', 'rgb');
  return (color.alpha ?? 1) < 1 ? culori().formatHex8(shown) : culori().formatHex(shown);
}

/** `color(display-p3 …)`; undefined where sRGB has it. */
export function wideOf(printed: string): string | undefined {
  const color = colorOf(printed);
  if (inRgb(color)) return undefined;
  const { r, g, b, alpha = 1 } = culori().converter('p3')(culori().clampChroma(color, 'oklch', 'p3'));
  const channels = [r, g, b].map((value) => short(Math.min(1, Math.max(0, value)))).join(' ');
  return `color(display-p3 ${channels}${alpha < 1 ? ` / ${short(alpha)}` : ''})`;
}

/** What is seen of it on an opaque ground. */
function over(top: Rgb, ground: Rgb): Rgb {
  const { alpha = 1 } = top;
  const mix = (a: number, b: number): number => a * alpha + b * (1 - alpha);
  return { mode: 'rgb', r: mix(top.r, ground.r), g: mix(top.g, ground.g), b: mix(top.b, ground.b) };
}

/** WCAG contrast as screens of sRGB show it: `text` on `surface`, and that on the page. */
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
