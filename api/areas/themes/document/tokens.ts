// The design tokens: name, kind, bounds, and the value in the Foyer themes. The list only grows within v1.
import type { Group, Kind } from './kinds.ts';
import { lightAndDark, sharedTokens } from './palette.ts';

export interface Token {
  name: string;
  /** The CSS custom property. */
  property: string;
  kind: Kind;
  min?: number;
  max?: number;
  values?: readonly string[];
  /** Whether it may differ between light and dark. */
  scheme: boolean;
  group: Group;
  label: string;
}

/** CSS families of the fonts that the app bundles or the device has. */
export const fonts: Readonly<Record<string, string>> = {
  inter: '"Inter Variable",Inter,system-ui,sans-serif',
  'system-sans': 'system-ui,sans-serif',
  'system-serif': 'ui-serif,Georgia,serif',
  'system-rounded': 'ui-rounded,system-ui,sans-serif',
  'system-mono': 'ui-monospace,"Liberation Mono",monospace',
};

export const easings: Readonly<Record<string, string>> = {
  linear: 'linear',
  ease: 'ease',
  'ease-in': 'ease-in',
  'ease-out': 'ease-out',
  'ease-in-out': 'ease-in-out',
  'foyer-out': 'cubic-bezier(.2,.8,.2,1)',
  'foyer-in': 'cubic-bezier(.8,0,.8,.2)',
  'foyer-move': 'cubic-bezier(.4,0,.2,1)',
};

/** Bounds of each kind; numbers have bounds of their own. Lengths in px (0-20 in rem), durations in ms. */
const ofKind: Readonly<Record<Kind, Partial<Token>>> = {
  color: {},
  length: { min: 0, max: 200 },
  duration: { min: 0, max: 2000 },
  number: {},
  easing: { values: Object.keys(easings) },
  font: { values: Object.keys(fonts) },
  shadow: {},
  weight: { min: 100, max: 900 },
};

const propertyOf = (name: string): string => `--fy-${name.replaceAll('.', '-')}`;

function token(own: Pick<Token, 'name' | 'kind' | 'scheme' | 'group' | 'label'> & Partial<Token>): Token {
  return { ...own, property: propertyOf(own.name), ...ofKind[own.kind], ...bounds(own) };
}

const bounds = ({ min, max }: Partial<Token>): Partial<Token> => ({
  ...(min !== undefined && { min }),
  ...(max !== undefined && { max }),
});

/** In the order of a theme editor. */
export const tokens: readonly Token[] = [
  ...lightAndDark.map(({ name, label, kind = 'color', group = 'color' }) =>
    token({ name, label, kind, group, scheme: true }),
  ),
  ...sharedTokens.map(({ value: _value, ...own }) => token({ ...own, scheme: false })),
];

const byName = new Map(tokens.map((one) => [one.name, one]));

export const tokenOf = (name: string): Token | undefined => byName.get(name);
