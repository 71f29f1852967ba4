// Prints tokens as CSS custom properties, and nothing else.
import { createHash } from 'node:crypto';
import type { Scheme } from '../document/built-in.ts';
import { srgbOf, wideOf } from '../document/colors.ts';
import { type ShadowLayer, type TokenSet, type TokenValue, textOf } from '../document/kinds.ts';
import { easings, fonts, type Token, tokens } from '../document/tokens.ts';
import { orderedSchemes, type Resolved } from './resolve.ts';

type Printer = (value: TokenValue) => string;

const plain: Printer = textOf;
const printers: Readonly<Record<Token['kind'], Printer>> = {
  color: (value) => srgbOf(textOf(value)),
  length: plain,
  duration: plain,
  number: plain,
  weight: plain,
  easing: (value) => easings[textOf(value)] ?? 'ease',
  font: (value) => fonts[textOf(value)] ?? 'sans-serif',
  shadow: (value) => (value as ShadowLayer[]).map(layerText).join(',') || 'none',
};

const layerText = ({ x, y, blur, spread, color }: ShadowLayer): string =>
  `${x} ${y} ${blur} ${spread} ${srgbOf(color)}`;

type Print = (token: Token, value: TokenValue) => string | undefined;
const narrow: Print = ({ kind }, value) => printers[kind](value);
const wide: Print = ({ kind }, value) => (kind === 'color' ? wideOf(textOf(value)) : undefined);

function declarations(set: TokenSet, print: Print): string {
  return tokens
    .flatMap((token) => {
      const value = set[token.name];
      const text = value === undefined ? undefined : print(token, value);
      return text === undefined ? [] : [`${token.property}:${text}`];
    })
    .join(';');
}

const rule = (selector: string, body: string): string => (body ? `${selector}{${body}}` : '');

export type Which = Scheme | 'both';

/** The schemes of a sheet, the one for pages that select none first; a missing scheme is replaced by the other. */
function wanted(resolved: Resolved, which: Which): Scheme[] {
  const all = orderedSchemes(resolved);
  return which === 'both' ? all : all.includes(which) ? [which] : all;
}

/**
 * A rule for each scheme, selected by `data-scheme` of the root or of any element. Wide-gamut screens get the wide
 * colours.
 */
export function stylesheet(resolved: Resolved, which: Which): string {
  const rules = (print: Print, shared: string): string => {
    const names = wanted(resolved, which);
    const texts = names.map((scheme, index) => {
      const own = [`[data-scheme="${scheme}"]`, ...(index === 0 ? [':root'] : [])].toReversed().join(',');
      const selector = names.length === 1 ? ':root' : own;
      return rule(selector, declarations(resolved.schemes[scheme] ?? {}, print));
    });
    return rule(':root', shared) + texts.join('');
  };
  const extra = rules(wide, declarations(resolved.shared, wide));
  return `${rules(narrow, declarations(resolved.shared, narrow))}${extra && `@media (color-gamut:p3){${extra}}`}\n`;
}

/** Changes with any token, and with nothing else. */
export const versionOf = (resolved: Resolved): string =>
  createHash('sha256').update(stylesheet(resolved, 'both')).digest('base64url').slice(0, 16);

/** Page, card, text, accent and focus of the first scheme, as `#rrggbb`. */
export function previewColors({ schemes, first }: Resolved): string[] {
  const set = schemes[first] ?? {};
  const names = ['surface.0', 'surface.2', 'text.primary', 'accent', 'focus'];
  return names.map((name) => srgbOf(textOf(set[`color.${name}`])).slice(0, 7));
}
