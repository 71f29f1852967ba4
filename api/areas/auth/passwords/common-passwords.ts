import { dictionary } from '@zxcvbn-ts/language-common';

const MOST = 10_000;

/** What anybody would try first, in lower case: the list is in the order of how common they are. */
export const commonPasswords: ReadonlySet<string> = new Set(dictionary['passwords-common'].slice(0, MOST));
