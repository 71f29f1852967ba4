/**
 * Types of libraries that the owner made. Items are stored under the item types of the base, so that whatever works for the
 * base works for them; the names that a level gives are shown instead.
 */

/** What a library keeps of its type: the base, and its levels from the top. */
export interface OwnType {
  base: string;
  levels: readonly OwnLevel[];
}

export interface OwnLevel {
  /** Item types of the base on this level. */
  bases: readonly string[];
  /** The item type that is shown: `custom:<key>`, or one of `bases`, which shows each by its own name. */
  itemType: string;
}

interface Typed {
  type: string;
  own_type?: OwnType | null;
}

const isOwn = (itemType: string): boolean => itemType.startsWith('custom:');

/** The built-in type that a library is read, listed and played like. */
export function baseOf({ type, own_type: own }: Typed): string {
  return own?.base ?? type;
}

/** The type under which the library shows items of a stored type. */
export function shownType({ own_type: own }: Pick<Typed, 'own_type'>, stored: string): string {
  const level = own?.levels.find(({ bases, itemType }) => isOwn(itemType) && bases.includes(stored));
  return level?.itemType ?? stored;
}

/** The stored types that the library shows as `shown`; none when it holds no such items. */
export function storedTypes({ own_type: own }: Pick<Typed, 'own_type'>, shown: string): readonly string[] {
  if (!own) return isOwn(shown) ? [] : [shown];
  const level = own.levels.find(({ itemType }) => itemType === shown);
  if (level) return isOwn(shown) ? level.bases : [shown];
  return own.levels.some(({ bases, itemType }) => isOwn(itemType) && bases.includes(shown)) ? [] : [shown];
}

/** Stored item types of a library's levels, without those that its type leaves out. */
export function heldBases({ levels }: OwnType): string[] {
  return levels.flatMap(({ bases, itemType }) => (isOwn(itemType) ? bases : [itemType]));
}
