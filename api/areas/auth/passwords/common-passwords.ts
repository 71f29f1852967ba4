import { dictionary } from '@zxcvbn-ts/language-common';

const MOST = 10_000;

/** The most common passwords, in lower case; the source list is ordered by frequency. */
export const commonPasswords: ReadonlySet<string> = new Set(dictionary['passwords-common'].slice(0, MOST));
