/** One of them makes an edition of the words around it. */
export const HEADS = new Set(
  `cut edition version extended unrated uncut remastered remaster restored theatrical imax despecialized directors criterion
   ultimate special anniversary collectors final assembly rekall hunter imperial open matte signature diamond redux 2in1 3in1 4in1
   rogue definitive uncensored fanedit collection edit workprint`
    .split(/\s+/)
    .filter((word) => word !== ''),
);
/** Words that stand in the name of an edition. */
const WORDS = new Set([
  ...HEADS,
  'fan',
  'director',
  'alternative',
  'alternate',
  'the',
  's',
  'collector',
  'longue',
  'in',
  'one',
]);
/** Words that say which edition, cut or version it is; elsewhere they are words of titles. */
const BEFORE_KIND = new Set(
  'deluxe limited international fan workprint special extended alternate alternative super'.split(' '),
);
const KINDS = new Set(['edition', 'cut', 'version', 'edit', 'collection']);

/** `Deluxe Edition`: a word that belongs to an edition by the word behind it. */
export function isBeforeKind(low: string, next: string): boolean {
  return BEFORE_KIND.has(low) && KINDS.has(next);
}

/** A word that stands in the name of an edition, and perhaps in a title. */
export function isEditionWord(low: string): boolean {
  return (WORDS.has(low) && low !== 'the' && low !== 'in' && low !== 'one' && low !== 's') || /^\d{1,3}th$/.test(low);
}
