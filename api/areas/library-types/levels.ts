import type { OwnLevel } from '#platform/own-types.ts';
import type { Base } from './bases.ts';
import type { TypeLevel } from './library-types.schemas.ts';

/** Item types on each level of a base, from the top; items of the last one have files. */
const chains: Readonly<Record<Base, readonly (readonly string[])[]>> = {
  movies: [['movie']],
  shows: [['show'], ['season'], ['episode']],
  videos: [['video']],
  music: [['artist'], ['album'], ['track']],
  photos: [['photo-album'], ['photo', 'video']],
  books: [['author'], ['book', 'audiobook']],
  comics: [['comic-series'], ['comic']],
  games: [['game']],
  courses: [['course'], ['section'], ['lesson']],
  files: [['file']],
};

const leafRoles: Readonly<Record<Base, TypeLevel['role']>> = {
  ...{ movies: 'playable', shows: 'playable', videos: 'playable', music: 'playable', courses: 'playable' },
  ...{ photos: 'viewable', books: 'readable', comics: 'readable', games: 'file', files: 'file' },
};

interface Fault {
  /** Number of the level; absent for all of them. */
  level?: number;
  message: string;
}

/** The level of the base that each level stands for; faults when roles or item types do not fit the base. */
export function matchLevels(
  base: Base,
  levels: readonly Pick<TypeLevel, 'itemType' | 'role'>[],
): { own: OwnLevel[]; faults: Fault[] } {
  const chain = chains[base];
  if (levels.length > chain.length)
    return { own: [], faults: [{ message: `a type of base ${base} has at most ${chain.length} levels` }] };
  const faults: Fault[] = [];
  const own: OwnLevel[] = [];
  let next = 0;
  for (const [level, { itemType, role }] of levels.entries()) {
    const isLeaf = level === levels.length - 1;
    const at = isLeaf ? chain.length - 1 : placeOf(chain, itemType, next);
    const bases = chain[at] ?? [];
    const left = levels.length - 1 - level;
    if (!fitsPlace(bases, itemType) || (!isLeaf && chain.length - 1 - at < left))
      faults.push({ level, message: `${itemType} has no such place in a type of base ${base}` });
    const wanted = isLeaf ? leafRoles[base] : 'container';
    if (role !== wanted) faults.push({ level, message: `the role of this level is ${wanted}` });
    own.push({ bases, itemType });
    next = at + 1;
  }
  return { own, faults };
}

/** Own item types take the next level; built-in ones have theirs. */
function placeOf(chain: readonly (readonly string[])[], itemType: string, next: number): number {
  if (itemType.startsWith('custom:')) return next;
  return chain.findIndex((bases, i) => i >= next && i < chain.length - 1 && bases.includes(itemType));
}

const fitsPlace = (bases: readonly string[], itemType: string): boolean =>
  bases.length > 0 && (itemType.startsWith('custom:') || bases.includes(itemType));

/** The built-in item type behind each level: what a client that does not know an own type draws it like. */
export const behind = ({ bases, itemType }: OwnLevel): string =>
  itemType.startsWith('custom:') ? (bases[0] ?? itemType) : itemType;
