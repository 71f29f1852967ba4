import { z } from 'zod';

/** A username is data and is never part of a path. */
export const Username = z
  .string()
  .max(64)
  .transform((name) => name.normalize('NFC').trim())
  .pipe(
    z.string().regex(/^[\p{L}\p{M}\p{N}._@-]+( [\p{L}\p{M}\p{N}._@-]+)*$/u, {
      error: 'letters, digits, . _ - @ and single blanks inside',
    }),
  )
  .meta({ description: '1-64 letters, digits, `._-@` and blanks inside; unique without letter case and look-alikes' });

/** Single letters of other scripts that look like Latin ones (from UTS 39). */
const LOOKALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['аɑαа', 'a'],
    ['ьƅЬ', 'b'],
    ['сϲⲥ', 'c'],
    ['ԁɗ', 'd'],
    ['еҽєε', 'e'],
    ['ɡց', 'g'],
    ['һհ', 'h'],
    ['іıίιӏ', 'i'],
    ['јϳ', 'j'],
    ['кκ', 'k'],
    ['ɩⅼ', 'l'],
    ['м', 'm'],
    ['пոη', 'n'],
    ['оοօσ', 'o'],
    ['рρ', 'p'],
    ['ԛգ', 'q'],
    ['г', 'r'],
    ['ѕꜱ', 's'],
    ['тτ', 't'],
    ['υսц', 'u'],
    ['ѵν', 'v'],
    ['ԝաω', 'w'],
    ['хχ', 'x'],
    ['уүγ', 'y'],
    ['ᴢ', 'z'],
    ['в', 'b'],
    ['н', 'h'],
  ].flatMap(([letters = '', latin = '']) => letters.split('').map((letter) => [letter, latin])),
);

/** The form by which usernames are unique: without letter case and look-alike letters. */
export function foldUsername(username: string): string {
  const folded = username.normalize('NFKC').trim().toLowerCase().replace(/\s+/g, ' ');
  return folded.replace(/[^\0-\x7f]/g, (letter) => LOOKALIKES[letter] ?? letter);
}

/** Whether the name sent at sign-in is this username: in any letter case, otherwise exactly. */
export function isSameName(username: string, written: string): boolean {
  const plain = (name: string): string => name.normalize('NFC').trim().toLowerCase();
  return plain(username) === plain(written);
}
