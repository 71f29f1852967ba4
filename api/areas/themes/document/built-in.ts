// The themes that every server has. Each holds only the values that differ from its base.

import type { TokenSet } from './kinds.ts';
import { lightAndDark, sharedTokens } from './palette.ts';

export const schemeNames = ['dark', 'light'] as const;
export type Scheme = (typeof schemeNames)[number];
export type Schemes = Partial<Record<Scheme, TokenSet>>;

/** The content of a theme without its bases. */
export interface Said {
  schemes: Schemes;
  shared: TokenSet;
}

export interface BuiltIn extends Said {
  id: string;
  name: string;
  description: string;
  /** Null for the themes at the end of a chain. */
  base: string | null;
  /** The scheme of a page that selects none; also for themes based on this one. */
  first: Scheme;
}

const of = (scheme: Scheme): TokenSet => Object.fromEntries(lightAndDark.map((row) => [row.name, row[scheme]]));
const whole = {
  schemes: { dark: of('dark'), light: of('light') },
  shared: Object.fromEntries(sharedTokens.map(({ name, value }) => [name, value])),
};

const colors = (values: Record<string, string>): TokenSet =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`color.${name}`, `oklch(${value})`]));

const cinema = colors({
  'surface.0': '0 0 0',
  'surface.1': '0.14 0.004 265',
  'surface.2': '0.18 0.005 265',
  'surface.3': '0.23 0.006 265',
  nav: '0 0 0',
  field: '0.14 0.004 265',
  skeleton: '0.18 0.005 265',
  tooltip: '0.23 0.006 265',
  'text.primary': '0.93 0.004 265',
  'text.secondary': '0.77 0.008 265',
  'text.muted': '0.66 0.01 265',
  line: '0.27 0.008 265',
  edge: '0.55 0.012 265',
  accent: '0.72 0.14 45',
  'accent.hover': '0.78 0.13 48',
  'accent.pressed': '0.67 0.135 43',
  'accent.on': '0.16 0.03 45',
  'accent.soft': '0.72 0.14 45 / 0.16',
  link: '0.72 0.14 45',
  selected: '0.72 0.14 45 / 0.16',
  selection: '0.72 0.14 45 / 0.35',
  badge: '0.72 0.14 45',
  'badge.on': '0.16 0.03 45',
  progress: '0.72 0.14 45',
  focus: '0.86 0.1 55',
});

const highDark = colors({
  'surface.0': '0 0 0',
  'surface.1': '0 0 0',
  'surface.2': '0.16 0 0',
  'surface.3': '0.22 0 0',
  nav: '0 0 0',
  field: '0 0 0',
  'text.primary': '1 0 0',
  'text.secondary': '1 0 0',
  'text.muted': '0.9 0 0',
  'text.disabled': '0.7 0 0',
  line: '0.85 0 0',
  edge: '1 0 0',
  accent: '0.9 0.16 95',
  'accent.hover': '0.95 0.12 98',
  'accent.pressed': '0.85 0.16 92',
  'accent.on': '0 0 0',
  link: '0.9 0.16 95',
  focus: '0.9 0.13 200',
  ok: '0.88 0.2 150',
  warn: '0.9 0.16 95',
  danger: '0.78 0.14 25',
  info: '0.86 0.1 230',
  'ok.on': '0 0 0',
  'warn.on': '0 0 0',
  'danger.on': '0 0 0',
  'info.on': '0 0 0',
  scrim: '0 0 0 / 0.9',
  'art.text': '1 0 0',
  badge: '1 0 0',
  'badge.on': '0 0 0',
  progress: '0.9 0.16 95',
  tooltip: '0 0 0',
  'tooltip.on': '1 0 0',
});

const highLight = colors({
  'surface.0': '1 0 0',
  'surface.1': '1 0 0',
  'surface.2': '0.97 0 0',
  'surface.3': '0.93 0 0',
  nav: '1 0 0',
  field: '1 0 0',
  'text.primary': '0 0 0',
  'text.secondary': '0 0 0',
  'text.muted': '0.3 0 0',
  'text.disabled': '0.45 0 0',
  line: '0.3 0 0',
  edge: '0 0 0',
  accent: '0.36 0.15 265',
  'accent.hover': '0.3 0.14 265',
  'accent.pressed': '0.25 0.12 265',
  'accent.on': '1 0 0',
  link: '0.36 0.15 265',
  focus: '0.4 0.2 300',
  ok: '0.38 0.11 150',
  warn: '0.4 0.09 75',
  danger: '0.42 0.17 27',
  info: '0.4 0.12 245',
  scrim: '0 0 0 / 0.9',
  'art.text': '1 0 0',
  badge: '0 0 0',
  'badge.on': '1 0 0',
  progress: '0.36 0.15 265',
  tooltip: '0 0 0',
  'tooltip.on': '1 0 0',
});

export const DEFAULT = 'foyer-dark';

export const builtIns: readonly BuiltIn[] = [
  {
    id: DEFAULT,
    name: 'Foyer dark',
    description: 'The look of Foyer; dark where a page names no scheme',
    base: null,
    first: 'dark',
    ...whole,
  },
  {
    id: 'foyer-light',
    name: 'Foyer light',
    description: 'The look of Foyer; light where a page names no scheme',
    base: null,
    first: 'light',
    ...whole,
  },
  {
    id: 'cinema',
    name: 'Cinema',
    description: 'Black, for a dark room',
    base: DEFAULT,
    first: 'dark',
    schemes: { dark: cinema },
    shared: {},
  },
  {
    id: 'high-contrast',
    name: 'High contrast',
    description: 'Black and white with strong borders',
    base: DEFAULT,
    first: 'dark',
    schemes: { dark: highDark, light: highLight },
    shared: { 'border.width': '2px', 'focus.width': '4px' },
  },
];

const byId = new Map(builtIns.map((one) => [one.id, one]));

export const builtInOf = (id: string): BuiltIn | undefined => byId.get(id);
