import { type BuiltIn, builtInOf, type Said, type Scheme, schemeNames } from '../document/built-in.ts';
import type { TokenSet } from '../document/kinds.ts';

/** Most bases of an own theme, including the built-in one. */
export const MOST_BASES = 4;

/** The content of a theme that resolving needs. */
export interface Source extends Said {
  id: string;
  base: string | null;
  revision: number;
}

/** All tokens for each scheme of the theme. */
export interface Resolved {
  schemes: Partial<Record<Scheme, TokenSet>>;
  shared: TokenSet;
  /** The scheme of a page that selects none. */
  first: Scheme;
}

const ofBuiltIn = (one: BuiltIn): Source => ({ ...one, revision: 1 });

/** From the theme to the end of its bases; undefined if a base is missing or the chain is circular. */
export function chainOf<T extends Pick<Source, 'id' | 'base'>>(
  id: string,
  own: ReadonlyMap<string, T>,
): (T | Source)[] | undefined {
  const chain: (T | Source)[] = [];
  for (let at: string | null = id; at !== null; ) {
    const builtIn = builtInOf(at);
    const found: T | Source | undefined = builtIn ? ofBuiltIn(builtIn) : own.get(at);
    if (!found || chain.some((one) => one.id === found.id)) return undefined;
    chain.push(found);
    at = found.base;
  }
  return chain;
}

/** Number of bases up to and including the first built-in one. */
export const depthOf = (chain: readonly { id: string }[]): number =>
  Math.max(
    0,
    chain.findIndex(({ id }) => builtInOf(id) !== undefined),
  );

/** `chain` is the result of `chainOf`. */
export function resolve(chain: readonly Source[]): Resolved {
  const [theme] = chain;
  const downwards = chain.toReversed();
  const named = schemeNames.filter((scheme) => theme?.schemes[scheme]);
  const schemes = Object.fromEntries(
    named.map((scheme) => [scheme, merged(downwards.map((one) => one.schemes[scheme] ?? {}))]),
  );
  const root = builtInOf(chain.at(-1)?.id ?? '')?.first ?? 'dark';
  const first = schemes[root] ? root : (named[0] ?? root);
  return { schemes, shared: merged(downwards.map((one) => one.shared)), first };
}

const merged = (sets: readonly TokenSet[]): TokenSet => Object.assign({}, ...sets) as TokenSet;

/** Dark before light, unless its built-in theme starts with light. */
export const orderedSchemes = ({ schemes, first }: Resolved): Scheme[] =>
  schemeNames
    .filter((scheme) => schemes[scheme])
    .toSorted((one, other) => Number(other === first) - Number(one === first));
