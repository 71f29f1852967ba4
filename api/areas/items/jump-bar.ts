/** Labels of the jump bar: what letter, number or script a title begins with. */

export interface Bucket {
  key: string;
  label: string;
  count: number;
  offset: number;
  /** Sort value of the first item in it, as text; null for items without one. */
  first: string | null;
}

/** One group of rows with the same beginning, in the list's order. */
export interface Group {
  key: string | null;
  count: number;
  first: string | null;
}

const KANA = ['あ', 'か', 'さ', 'た', 'な', 'は', 'ま', 'や', 'ら', 'わ'];
/** Last letter of each row in the order of Unicode. */
const KANA_ENDS = ['お', 'ご', 'ぞ', 'ど', 'の', 'ぽ', 'も', 'よ', 'ろ', 'ん'];

/** The bar's letter of a title's folded first character. */
export function initialOf(character: string): string {
  if (/^[a-z]$/i.test(character)) return character.toUpperCase();
  if (/^\p{Nd}$/u.test(character)) return '0-9';
  if (/^[\u3041-\u30ff]$/u.test(character)) return kanaRow(character);
  if (/^\p{Script=Han}$/u.test(character)) return '漢';
  return /^\p{L}$/u.test(character) ? character.toLocaleUpperCase() : '#';
}

function kanaRow(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hiragana = String.fromCodePoint(code >= 0x30a1 && code <= 0x30f6 ? code - 0x60 : code);
  const row = KANA_ENDS.findIndex((end) => hiragana <= end);
  return KANA[row] ?? 'わ';
}

const MOST = 200;

/** Groups in the list's order become buckets; neighbours of one label are one, and so is what is beyond the two hundredth. */
export function bucketsOf(groups: readonly Group[], labelOf: (key: string) => string): Bucket[] {
  const buckets = new Map<string, Bucket>();
  let offset = 0;
  let last: Bucket | undefined;
  for (const group of groups) {
    const label = group.key === null ? '' : labelOf(group.key);
    const key = group.key === null ? 'none' : label;
    const known = buckets.get(key) ?? (buckets.size >= MOST ? last : undefined);
    last = known ?? { key, label, count: 0, offset, first: group.first };
    last.count += group.count;
    buckets.set(last.key, last);
    offset += group.count;
  }
  return [...buckets.values()];
}
