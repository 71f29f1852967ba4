// The encoding of a text that does not name it: by its byte order mark, as UTF-8, or by what its letters look like.

const CYRILLIC = ['windows-1251', 'koi8-u', 'ibm866', 'iso-8859-5'];
const CENTRAL = ['windows-1250', 'iso-8859-2'];
const ARABIC = ['windows-1256', 'iso-8859-6'];
const WESTERN = ['windows-1252'];

/** Encodings in use for a language, the most usual first. */
const BY_LANGUAGE: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(['ru', 'uk', 'be', 'bg', 'mk'].map((code) => [code, CYRILLIC])),
  ...Object.fromEntries(['pl', 'cs', 'sk', 'hu', 'sl', 'hr', 'bs', 'ro', 'sq'].map((code) => [code, CENTRAL])),
  ...{ sr: [...CYRILLIC, ...CENTRAL], ar: ARABIC, fa: ARABIC, ur: ARABIC },
  ...{ el: ['windows-1253'], tr: ['windows-1254'], he: ['windows-1255'], vi: ['windows-1258'], th: ['windows-874'] },
  ...Object.fromEntries(['et', 'lv', 'lt'].map((code) => [code, ['windows-1257']])),
  ...{ ja: ['shift_jis', 'euc-jp'], ko: ['euc-kr'], zh: ['gb18030', 'big5'] },
};

/** Encodings to compare when the language says nothing. Those of two bytes a letter fail on texts of other ones. */
const ANY = [
  ...['shift_jis', 'euc-kr', 'big5', 'gb18030', 'windows-1251', 'koi8-u', 'windows-1253', 'windows-1255'],
  ...['windows-1256', 'windows-874', 'windows-1250', 'windows-1254', 'windows-1252'],
];

/** Bytes from which the encoding is judged. */
const SAMPLE = 64 << 10;

/** Decodes a subtitle file. Invalid bytes become replacement characters. */
export function decodeForeign(bytes: Uint8Array, language: string | undefined): string {
  const marked = byMark(bytes) ?? byZeros(bytes);
  if (marked) return new TextDecoder(marked).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder(legacyOf(bytes, language)).decode(bytes);
  }
}

function byMark([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  return a === 0xef && b === 0xbb && c === 0xbf ? 'utf-8' : undefined;
}

/** UTF-16 without a mark: every other byte of Latin text and digits is zero. */
function byZeros(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, 4096);
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const many = sample.length / 8;
  if (odd > many && even < odd / 4) return 'utf-16le';
  return even > many && odd < even / 4 ? 'utf-16be' : undefined;
}

function legacyOf(bytes: Uint8Array, language: string | undefined): string {
  const known = BY_LANGUAGE[language?.split('-')[0]?.toLowerCase() ?? ''];
  const candidates = known ?? (language === undefined || language === 'und' ? ANY : WESTERN);
  const sample = bytes.subarray(0, SAMPLE);
  const scored = candidates.map((label) => ({ label, score: scoreOf(sample, label) }));
  return scored.reduce((best, one) => (one.score > best.score ? one : best)).label;
}

const WORD = /\p{L}+/gu;
const SCRIPTS: readonly RegExp[] = [
  /^\p{sc=Cyrillic}+$/u,
  /^\p{sc=Greek}+$/u,
  /^\p{sc=Hebrew}+$/u,
  /^\p{sc=Arabic}+$/u,
  /^\p{sc=Thai}+$/u,
  /^\p{sc=Latin}+$/u,
  /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー]+$/u,
  /^[\p{sc=Hangul}\p{sc=Han}]+$/u,
];
/** A small letter before a capital one inside a word shows a wrong encoding. */
const MIXED = /\p{Ll}\p{Lu}/u;
const ODD = /[\u0080-\u009f\ufffd\ue000-\uf8ff]/gu;
const FOREIGN_MARKS = /[¤¦¨ªº¹²³¼½¾¶§©®°±µ·¸÷×]/gu;

/** How much a text looks like words when it is decoded so: words in one script count, broken ones count against it. */
function scoreOf(sample: Uint8Array, label: string): number {
  const text = new TextDecoder(label).decode(sample);
  let score = -8 * (text.match(ODD)?.length ?? 0) - 3 * (text.match(FOREIGN_MARKS)?.length ?? 0);
  for (const [word] of text.matchAll(WORD)) {
    if (/^\p{ASCII}+$/u.test(word)) continue;
    const whole = SCRIPTS.some((script) => script.test(word)) && !MIXED.test(word);
    score += whole ? Math.min(word.length, 12) : -2 * Math.min(word.length, 12);
  }
  return score;
}
