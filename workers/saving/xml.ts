/** Characters that XML 1.0 cannot hold, whichever way they are written. */
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};

/** A text as content or attribute of an element. */
export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(FORBIDDEN, '')
    .replaceAll(/[&<>"\r]/g, (sign) => ENTITIES[sign] ?? sign);
}

/** An element as lines of text; an empty list is no element. */
export type Xml = readonly string[];

type Attributes = Readonly<Record<string, string>>;

const opening = (name: string, attributes: Attributes): string =>
  [name, ...Object.entries(attributes).map(([key, value]) => `${key}="${escaped(value)}"`)].join(' ');

/** An element with a text; none for a text that is absent or empty. */
export function line(name: string, value: string | number | null | undefined, attributes: Attributes = {}): Xml {
  const text = escaped(String(value ?? ''));
  return text.trim() === '' ? [] : [`<${opening(name, attributes)}>${text}</${name}>`];
}

/** One element for each of the values. */
export const lines = (name: string, values: readonly string[] | undefined): Xml =>
  (values ?? []).flatMap((value) => line(name, value));

/** An element with others inside; none without any. */
export function group(name: string, inside: readonly Xml[], attributes: Attributes = {}): Xml {
  const all = inside.flat();
  return all.length === 0 ? [] : [`<${opening(name, attributes)}>`, ...all.map((one) => `  ${one}`), `</${name}>`];
}

/** A whole document in UTF-8. */
export const documentOf = (root: Xml): Buffer =>
  Buffer.from(['<?xml version="1.0" encoding="UTF-8" standalone="yes"?>', ...root, ''].join('\n'));
