/** The first characters of a text, without splitting one. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).toWellFormed();
}

const MAX_LINE = 1000;

/** A foreign text as one line, with single spaces in place of white space and control characters. */
export function oneLine(text: string): string {
  return cut(text, MAX_LINE)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

const MAX_LIST = 20_000;

/** The non-empty parts between any of the separators. */
export function partsOf(text: string, signs: string): string[] {
  const parts: string[] = [];
  let part = '';
  for (const sign of cut(text, MAX_LIST)) {
    if (signs.includes(sign)) {
      parts.push(part);
      part = '';
    } else part += sign;
  }
  return [...parts, part].map(oneLine).filter((one) => one !== '');
}

/** Replaces plus signs by spaces in a name that has no others, as web forms encode it; `S01E01+02` is unchanged. */
export function withSpaces(name: string): string {
  return /[\s._]|e\d{1,4}\+/i.test(name) ? name : name.replaceAll('+', ' ');
}
