/** The first characters of a text, whole ones only. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).toWellFormed();
}

const MAX_LINE = 1000;

/** A foreign text as one line: white space and control characters between words are one space. */
export function oneLine(text: string): string {
  return cut(text, MAX_LINE)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

const MAX_LIST = 20_000;

/** The parts between any of some signs, without those that are empty. */
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

/** A name whose words are parted by plus signs alone, as a form of the web writes them; `S01E01+02` is none. */
export function withSpaces(name: string): string {
  return /[\s._]|e\d{1,4}\+/i.test(name) ? name : name.replaceAll('+', ' ');
}
