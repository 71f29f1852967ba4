// The letters of CEA-608: ASCII with exceptions, the special ones and the two extended sets.

const EXCEPTIONS: Readonly<Record<number, string>> = {
  39: '’',
  42: 'á',
  92: 'é',
  94: 'í',
  95: 'ó',
  96: 'ú',
  123: 'ç',
  124: '÷',
  125: 'Ñ',
  126: 'ñ',
  127: '█',
};

/** From 0x30; a transparent space stands at the tenth place. */
const SPECIAL = '®°½¿™¢£♪à èâêîôû';
/** From 0x20 each, after 0x12 and 0x13. */
const SPANISH_FRENCH = 'ÁÉÓÚÜü‘¡*’—©℠•“”ÀÂÇÈÊËëÎÏïÔÙùÛ«»';
const PORTUGUESE_GERMAN = 'ÃãÍÌìÒòÕõ{}\\^_|~ÄäÖöß¥¤│ÅåØø┌┐└┘';

export const basicLetter = (byte: number): string => EXCEPTIONS[byte] ?? String.fromCharCode(byte);
export const specialLetter = (byte: number): string => SPECIAL[byte - 0x30] ?? ' ';
/** `set` is the first byte, 0x12 or 0x13. */
export const extendedLetter = (set: number, byte: number): string =>
  (set === 0x12 ? SPANISH_FRENCH : PORTUGUESE_GERMAN)[byte - 0x20] ?? ' ';
