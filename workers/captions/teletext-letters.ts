// The Latin set G0 of teletext with its national subsets (ETSI EN 300 706, tables 35 and 36).

/** Positions that differ between countries. */
const PLACES = [0x23, 0x24, 0x40, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f, 0x60, 0x7b, 0x7c, 0x7d, 0x7e];

type Subset = 'english' | 'german' | 'swedish' | 'italian' | 'french' | 'spanish' | 'czech' | 'polish';
type More = 'turkish' | 'rumanian' | 'croatian' | 'estonian' | 'latvian';

const LETTERS: Readonly<Record<Subset | More, string>> = {
  english: '£$@←½→↑#—¼‖¾÷',
  german: '#$§ÄÖÜ^_°äöüß',
  swedish: '#¤ÉÄÖÅÜ_éäöåü',
  italian: '£$é°ç→↑#ùàòèì',
  french: 'éïàëêùî#èâôûç',
  spanish: 'ç$¡áéíóú¿üñèà',
  czech: '#ůčťžýířéáěúš',
  polish: '#ńąŻŚŁćóężśłź',
  turkish: '₺ğİŞÖÇÜĞışöçü',
  rumanian: '#¤ŢÂŞĂÎıţâşăî',
  croatian: '#ËČĆŽĐŠëčćžđš',
  estonian: '#õŠÄÖŽÜÕšäöžü',
  latvian: '#$ŠėęŽčūšąųžį',
};

const WEST: readonly Subset[] = ['english', 'german', 'swedish', 'italian', 'french', 'spanish', 'czech', 'english'];
const EAST: readonly Subset[] = ['polish', 'german', 'swedish', 'italian', 'french', 'english', 'czech', 'english'];
/** Regions by the upper four bits of a designation, each with the subsets of three bits. */
const REGIONS: Readonly<Record<number, readonly (Subset | More)[]>> = {
  0: WEST,
  1: EAST,
  2: ['english', 'german', 'swedish', 'italian', 'french', 'spanish', 'turkish', 'english'],
  3: ['english', 'english', 'english', 'english', 'english', 'croatian', 'english', 'rumanian'],
  4: ['english', 'german', 'estonian', 'latvian', 'english', 'english', 'czech', 'english'],
};

/** A letter of seven bits; `national` are the bits C12 to C14. */
export function teletextLetter(code: number, region: number, national: number): string {
  const place = PLACES.indexOf(code);
  if (place >= 0) return LETTERS[REGIONS[region]?.[national] ?? WEST[national] ?? 'english'][place] ?? ' ';
  return code === 0x7f ? '█' : String.fromCharCode(code);
}

/** Accents of the set G2, that stand with a letter of packet 26. */
const ACCENTS = ['', '\u0300', '\u0301', '\u0302', '\u0303', '\u0304', '\u0306', '\u0307', '\u0308', '\u0323'];
const MORE_ACCENTS = ['\u030a', '\u0327', '_', '\u030b', '\u0328', '\u030c'];

/** A letter with the accent of a number from 0 to 15. */
export function accented(letter: string, accent: number): string {
  const mark = accent < 10 ? ACCENTS[accent] : MORE_ACCENTS[accent - 10];
  return mark === undefined || mark === '_' ? letter : (letter + mark).normalize('NFC');
}

/** Letters of the Latin set G2, from 0x20. */
const SUPPLEMENT = ' ¡¢£$¥#§¤‘“«←↑→↓°±²³×µ¶·÷’”»¼½¾¿                ―¹®©™♪₠‰α   ⅛⅜⅝⅞ΩÆĐªĦ ĲĿŁØŒºÞŦŊŉĸæđðħıĳŀłøœßþŧŋ█';

export const supplementLetter = (code: number): string | undefined => SUPPLEMENT[code - 0x20]?.trim() || undefined;
