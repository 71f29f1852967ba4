import { type BuiltIn, builtInOf, type Said, type Scheme, schemeNames } from '../document/built-in.ts';
import type { TokenSet } from '../document/kinds.ts';

/** Bases above an own theme, the built-in one among them. */
export const MOST_BASES = 4;

/** What is known of a theme to tell what it comes to. */
export interface Source extends Said {
  id: string;
  base: string | null;
  revision: number;
}

/** Every token of the schemes that the theme has. */
export interface Resolved {
  schemes: Partial<Record<Scheme, TokenSet>>;
  shared: TokenSet;
  /** Of a page that names none. */
  first: Scheme;
}

const ofBuiltIn = (one: BuiltIn): Source => ({ ...one, revision: 1 });

/** From the theme itself down to one that rests on nothing; undefined where a base is missing, or it goes round. */
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

/** How many bases it has until the first built-in one. */
export const depthOf = (chain: readonly { id: string }[]): number =>
  Math.max(
    0,
    chain.findIndex(({ id }) => builtInOf(id) !== undefined),
  );

/** `chain` as of `chainOf`. */
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

/** Dark before light, or as its built-in theme has it. */
export const orderedSchemes = ({ schemes, first }: Resolved): Scheme[] =>
  schemeNames
    .filter((scheme) => schemes[scheme])
    .toSorted((one, other) => Number(other === first) - Number(one === first));
