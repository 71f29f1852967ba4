/** One of them makes an edition of the words around it. */
export const HEADS = new Set(
  `cut edition version extended unrated uncut remastered remaster restored theatrical imax despecialized directors criterion
   ultimate special anniversary collectors final assembly rekall hunter imperial open matte signature diamond redux 2in1 3in1 4in1
   rogue definitive uncensored fanedit collection`
    .split(/\s+/)
    .filter((word) => word !== ''),
);
/** Words that stand in the name of an edition. */
const WORDS = new Set([
  ...HEADS,
  'fan',
  'edit',
  'director',
  'alternative',
  'alternate',
  'the',
  's',
  'collector',
  'in',
  'one',
]);

/** A word that stands in the name of an edition, and perhaps in a title. */
export function isEditionWord(low: string): boolean {
  return (WORDS.has(low) && low !== 'the' && low !== 'in' && low !== 'one' && low !== 's') || /^\d{1,3}th$/.test(low);
}
