// Parses a token value into its kind and prints it again, so that nothing else is ever stored.
import { z } from 'zod';
import { readColor, short } from './colors.ts';
import type { ShadowLayer, TokenValue } from './kinds.ts';
import type { Token } from './tokens.ts';

export type Trouble = { code: 'bad_value' | 'out_of_range'; message: string };
export type Read<T> = { value: T } | Trouble;

const bad = (message: string): Trouble => ({ code: 'bad_value', message });
const far = (message: string): Trouble => ({ code: 'out_of_range', message });

const MOST_PX = 200;
const MOST_REM = 20;
const MOST_LAYERS = 4;

type Reader = (given: unknown, token: Token) => Read<TokenValue>;

const readers: Readonly<Record<Token['kind'], Reader>> = {
  color: colorValue,
  length: (given) => length(given, 0),
  duration,
  number: bounded,
  weight: (given, token) => (Number.isInteger(given) ? bounded(given, token) : bad('a whole number')),
  easing: named,
  font: named,
  shadow,
};

/** The value as stored, or why it is invalid. */
export const readValue: Reader = (given, token) => readers[token.kind](given, token);

function colorValue(given: unknown): Read<string> {
  const text = typeof given === 'string' ? given : colorText(given);
  const expected = '#rrggbb, #rrggbbaa or oklch(L C H / A), L and A 0-1, C 0-0.5, H 0-360';
  if (text === undefined) return bad(expected);
  const read = readColor(text);
  return typeof read === 'string' ? { value: read } : { ...read, message: expected };
}

const Part = z.number().min(0).max(1);
/** Colour objects of design-tokens files, in the two colour spaces that we print. */
const ColorObject = z.union([
  z.object({ colorSpace: z.literal('oklch'), components: z.array(z.number()).length(3), alpha: z.number().default(1) }),
  z.object({ colorSpace: z.literal('srgb'), components: z.array(Part).length(3), alpha: Part.default(1) }),
]);

const HEX_MAX = 255;
const hex = (part: number): string =>
  Math.round(part * HEX_MAX)
    .toString(16)
    .padStart(2, '0');

function colorText(given: unknown): string | undefined {
  const { data } = ColorObject.safeParse(given);
  if (!data) return undefined;
  const { colorSpace, components, alpha } = data;
  if (colorSpace === 'oklch') return `oklch(${components.map(short).join(' ')} / ${short(alpha)})`;
  return `#${components.map(hex).join('')}${alpha < 1 ? hex(alpha) : ''}`;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const MEASURE = /^(-?(?:\d+(?:\.\d*)?|\.\d+))([a-z]{1,3})$/;

/** `8px`, or `{ value: 8, unit: px }` as in design-tokens files. */
function measured(given: unknown, units: readonly string[]): { value: number; unit: string } | undefined {
  const { value, unit } = (isObject(given) ? given : {}) as { value?: unknown; unit?: unknown };
  const text = typeof value === 'number' && typeof unit === 'string' ? `${value}${unit}` : given;
  const parts = typeof text === 'string' && text.length <= 40 ? MEASURE.exec(text) : null;
  const [, amount, measure = ''] = parts ?? [];
  return units.includes(measure) ? { value: Number(amount), unit: measure } : undefined;
}

/** `least` is a factor of the maximum: 0, or -1 if the length may be negative. */
function length(given: unknown, least: 0 | -1): Read<string> {
  const read = given === 0 ? { value: 0, unit: 'px' } : measured(given, ['px', 'rem']);
  if (!read) return bad('a length in px or rem');
  const most = read.unit === 'px' ? MOST_PX : MOST_REM;
  if (read.value < least * most || read.value > most) return far(`${least * most} to ${most} ${read.unit}`);
  return { value: `${short(read.value)}${read.unit}` };
}

function duration(given: unknown, { max = 0 }: Token): Read<string> {
  const read = measured(given, ['ms', 's']);
  if (!read) return bad('a duration in ms or s');
  const ms = read.unit === 's' ? read.value * 1000 : read.value;
  return ms < 0 || ms > max ? far(`0 to ${max} ms`) : { value: `${short(ms)}ms` };
}

function bounded(given: unknown, { min = 0, max = 0 }: Token): Read<number> {
  if (typeof given !== 'number') return bad('a number');
  return given < min || given > max ? far(`${min} to ${max}`) : { value: short(given) };
}

function named(given: unknown, { values = [] }: Token): Read<string> {
  return typeof given === 'string' && values.includes(given) ? { value: given } : bad(`one of ${values.join(', ')}`);
}

const SHADOW = 'up to 4 of x, y, blur, spread and color';
const SPELLINGS: Readonly<Record<string, keyof ShadowLayer>> = { offsetX: 'x', offsetY: 'y' };

function shadow(given: unknown): Read<ShadowLayer[]> {
  const layers = isObject(given) ? [given] : given;
  if (!Array.isArray(layers) || layers.length > MOST_LAYERS) return bad(SHADOW);
  const read = layers.map(layerOf);
  const trouble = read.find((one) => 'code' in one);
  return trouble ?? { value: read.flatMap((one) => ('value' in one ? [one.value] : [])) };
}

function layerOf(given: unknown): Read<ShadowLayer> {
  if (!isObject(given)) return bad(SHADOW);
  const own = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [SPELLINGS[key] ?? key, value as unknown]),
  );
  const { x, y, blur = '0px', spread = '0px', color, ...strange } = own;
  if (Object.keys(strange).length > 0) return bad(SHADOW);
  const parts = {
    x: length(x, -1),
    y: length(y, -1),
    blur: length(blur, 0),
    spread: length(spread, -1),
    color: colorValue(color),
  };
  const trouble = Object.values(parts).find((one) => 'code' in one);
  if (trouble) return trouble;
  const values = Object.entries(parts).map(([name, one]) => [name, 'value' in one ? one.value : '']);
  return { value: Object.fromEntries(values) as unknown as ShadowLayer };
}
