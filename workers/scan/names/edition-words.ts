/** Any of these makes the words around it an edition. */
export const HEADS = new Set(
  `cut edition version extended unrated uncut remastered remaster restored theatrical imax despecialized directors criterion
   ultimate special anniversary collectors final assembly rekall hunter imperial open matte signature diamond redux 2in1 3in1 4in1
   rogue definitive uncensored fanedit collection edit workprint`
    .split(/\s+/)
    .filter((word) => word !== ''),
);
/** Words in names of editions. */
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
/** Words that describe the kind of edition, cut or version; elsewhere they are words of titles. */
const BEFORE_KIND = new Set(
  'deluxe limited international fan workprint special extended alternate alternative super'.split(' '),
);
const KINDS = new Set(['edition', 'cut', 'version', 'edit', 'collection']);

/** `Deluxe Edition`: a word that belongs to an edition because of the next word. */
export function isBeforeKind(low: string, next: string): boolean {
  return BEFORE_KIND.has(low) && KINDS.has(next);
}

/** A word in names of editions that may also be in a title. */
export function isEditionWord(low: string): boolean {
  return (WORDS.has(low) && low !== 'the' && low !== 'in' && low !== 'one' && low !== 's') || /^\d{1,3}th$/.test(low);
}
