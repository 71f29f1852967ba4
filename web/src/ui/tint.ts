// The tint of an avatar or of a card without art: one of twelve, by a hash of the id.

const TILES = 12;

function hashOf(id: string): number {
  let hash = 0;
  for (const letter of id) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}

/** A CSS value. */
export const tileOf = (id: string): string => `var(--fy-color-tile-${(hashOf(id) % TILES) + 1})`;
