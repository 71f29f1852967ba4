// The 24 colour pairs with a WCAG requirement.
import type { Issue } from '#kernel/errors.ts';
import { type Scheme, schemeNames } from '../document/built-in.ts';
import { contrastOf } from '../document/colors.ts';
import { type TokenSet, textOf } from '../document/kinds.ts';
import type { Resolved } from './resolve.ts';

const TEXT = 4.5;
const CONTROL = 3;
/** Text below this ratio is refused as unreadable. */
const READABLE = 3;

type Pair = readonly [top: string, ground: string, required: number];

const surfaces = ['surface.0', 'surface.1', 'surface.2', 'surface.3'];
export const pairs: readonly Pair[] = [
  ...['text.primary', 'text.secondary', 'text.muted'].flatMap((text) =>
    surfaces.map((surface): Pair => [text, surface, TEXT]),
  ),
  ['accent.on', 'accent', TEXT],
  ['accent.on', 'accent.hover', TEXT],
  ...['ok', 'warn', 'danger', 'info'].map((one): Pair => [one, 'surface.1', TEXT]),
  ...['accent', 'edge', 'focus'].flatMap((one): Pair[] => [
    [one, 'surface.0', CONTROL],
    [one, 'surface.1', CONTROL],
  ]),
];

export interface ContrastReport {
  scheme: Scheme;
  pair: string;
  ratio: number;
  required: number;
  ok: boolean;
}

const colorIn = (set: TokenSet, name: string): string => textOf(set[`color.${name}`]);
/** Rounded down, so that a failing ratio never looks like a passing one. */
const rounded = (ratio: number): number => Math.floor(ratio * 100) / 100;

function ratioOf(set: TokenSet, [top, ground]: Pair): number {
  return contrastOf(colorIn(set, top), colorIn(set, ground), colorIn(set, 'surface.0'));
}

export function contrastReports({ schemes }: Resolved): ContrastReport[] {
  return schemeNames.flatMap((scheme) => {
    const set = schemes[scheme];
    if (!set) return [];
    return pairs.map((pair) => {
      const [top, ground, required] = pair;
      const ratio = ratioOf(set, pair);
      return { scheme, pair: `${top} on ${ground}`, ratio: rounded(ratio), required, ok: ratio >= required };
    });
  });
}

export const failing = (reports: readonly ContrastReport[]): ContrastReport[] => reports.filter(({ ok }) => !ok);

/** An issue for each unreadable text, at its token. */
export function unreadable(reports: readonly ContrastReport[]): Issue[] {
  const texts = reports.filter(({ required, ratio }) => required === TEXT && ratio < READABLE);
  return texts.map(({ scheme, pair, ratio }) => ({
    path: ['body', 'schemes', scheme, `color.${pair.split(' on ')[0] ?? ''}`],
    code: 'contrast_unreadable',
    message: `${pair} has a contrast of ${ratio} to 1; text needs ${READABLE} at the least`,
  }));
}
