// How well an entry of a catalogue fits an item.
import type { Found, Wanted } from './agent.ts';

export type Because = 'title' | 'year' | 'external-id' | 'runtime' | 'child-count' | 'isbn';

export interface Score {
  /** 0 to 1. */
  score: number;
  because: Because[];
}

/** Entries below are never taken without a person. */
export const SURE = 0.8;
/** Two entries this close to each other are equally good. */
const CLOSE = 0.03;
const LONGEST = 200;

const withoutAccents = (text: string): string =>
  /[^\0-\x7f]/.test(text) ? text.normalize('NFKD').replace(/\p{M}/gu, '') : text;

/** Letters and digits alone, without accents and without a leading article. */
export function folded(title: string): string {
  const plain = withoutAccents(title.slice(0, LONGEST))
    .toLowerCase()
    .replace(/&/g, ' and ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  return plain.replace(/^(?:the|a|an|der|die|das|le|la|les|el|los|il) (?=\S)/, '');
}

/** 0 to 1 by the pairs of letters that two titles share. */
export function similarity(a: string, b: string): number {
  const [one, other] = [folded(a), folded(b)];
  if (one === other) return one === '' ? 0 : 1;
  const counts = new Map<string, number>();
  for (const pair of pairsOf(one)) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  let shared = 0;
  const pairs = pairsOf(other);
  for (const pair of pairs) {
    const left = counts.get(pair) ?? 0;
    if (left > 0) {
      counts.set(pair, left - 1);
      shared += 1;
    }
  }
  const total = Math.max(0, one.length - 1) + pairs.length;
  return total === 0 ? 0 : (2 * shared) / total;
}

const pairsOf = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2));

export function scoreOf(wanted: Wanted, found: Found): Score {
  if (sharesId(wanted, found)) return { score: 1, because: ['external-id'] };
  if (wanted.isbn && found.isbn?.includes(wanted.isbn)) return { score: 1, because: ['isbn'] };
  const likeness = likenessOf(wanted, found);
  const parts = [yearPart(wanted, found), byPart(wanted, found), runtimePart(wanted, found), countPart(wanted, found)];
  const because: Because[] = likeness >= 0.8 ? ['title'] : [];
  for (const { fits } of parts) if (fits) because.push(fits);
  return { score: round(parts.reduce((score, { factor }) => score * factor, likeness ** 2)), because };
}

function likenessOf(wanted: Wanted, found: Found): number {
  const titles = [found.title, found.originalTitle ?? '', ...(found.aliases ?? [])];
  const own = [wanted.title, ...(wanted.originalTitle ? [wanted.originalTitle] : [])];
  return Math.max(...own.flatMap((title) => titles.map((other) => similarity(title, other))));
}

const round = (score: number): number => Math.round(Math.max(0, Math.min(1, score)) * 1000) / 1000;

/** Providers whose id identifies an edition, of which an entry has many. */
const LOOSE = new Set(['isbn', 'musicbrainz']);

function sharesId(wanted: Wanted, found: Found): boolean {
  return Object.entries(found.ids).some(([provider, id]) => wanted.ids[provider] === id);
}

interface Part {
  factor: number;
  fits?: Because;
}

function yearPart({ year: a, ids }: Wanted, { year: b, ids: others }: Found): Part {
  const other = Object.entries(others).some(
    ([name, id]) => !LOOSE.has(name) && ids[name] !== undefined && ids[name] !== id,
  );
  const factor = other ? 0.5 : 1;
  if (a === undefined || b === undefined) return { factor: 0.87 * factor };
  const apart = Math.abs(a - b);
  if (apart === 0) return { factor, fits: 'year' };
  return { factor: (apart === 1 ? 0.95 : 0.5) * factor };
}

function byPart({ by: a }: Wanted, { by: b }: Found): Part {
  if (!a?.length) return { factor: 1 };
  if (!b?.length) return { factor: 0.95 };
  const best = Math.max(...a.flatMap((name) => b.map((other) => similarity(name, other))));
  return { factor: best >= 0.8 ? 1 : 0.4 };
}

function runtimePart({ runtimeMs: a }: Wanted, { runtimeMs: b }: Found): Part {
  if (!a || !b) return { factor: 1 };
  return Math.abs(a - b) <= Math.max(180_000, b * 0.08) ? { factor: 1, fits: 'runtime' } : { factor: 0.93 };
}

function countPart({ childCounts: a = {} }: Wanted, { childCounts: b = {} }: Found): Part {
  if (a.tracks !== undefined && b.tracks !== undefined)
    return a.tracks === b.tracks ? { factor: 1, fits: 'child-count' } : { factor: 0.97 };
  if (a.seasons === undefined || b.seasons === undefined) return { factor: 1 };
  return a.seasons <= b.seasons ? { factor: 1, fits: 'child-count' } : { factor: 0.9 };
}

export interface Scored extends Score {
  found: Found;
}

/** Entries with their scores, the best first; equal ones stay in the order of the catalogue. */
export const ranked = (wanted: Wanted, all: readonly Found[]): Scored[] =>
  all.map((found) => ({ found, ...scoreOf(wanted, found) })).sort((a, b) => b.score - a.score);

/** The entry that is the item without a doubt; undefined when none fits, or several do. */
export function bestOf(wanted: Wanted, all: readonly Found[]): Scored | undefined {
  const [first, ...others] = ranked(wanted, all);
  if (!first || first.score < SURE) return undefined;
  if (first.because.includes('external-id')) return first;
  const rival = others.find((one) => first.score - one.score < CLOSE && !isSameWork(one.found, first.found));
  return rival ? undefined : first;
}

/** Editions of one work. */
function isSameWork(a: Found, b: Found): boolean {
  const group = a.ids['musicbrainzReleaseGroup'];
  return group !== undefined && group === b.ids['musicbrainzReleaseGroup'];
}
