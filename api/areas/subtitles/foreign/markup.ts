// Tags and text of SAMI and TTML in one pass. The files are too often broken for a strict parser.

export interface Tag {
  /** Lower case, without a prefix of a namespace. */
  name: string;
  closing: boolean;
  /** Ends itself, such as `<br/>`. */
  empty: boolean;
  attributes: Readonly<Record<string, string>>;
}

const MOST_TAG = 4096;
/** Calls back for each tag and each text between them. A `<` without an end is text. */
export function walkMarkup(markup: string, on: { tag: (tag: Tag) => void; text: (text: string) => void }): void {
  let at = 0;
  while (at < markup.length) {
    const open = markup.indexOf('<', at);
    if (open < 0) break;
    if (open > at) on.text(markup.slice(at, open));
    const end = endOfTag(markup, open);
    if (end === undefined) {
      at = open;
      break;
    }
    const inner = markup.slice(open + 1, end.from);
    if (!/^[!?]/.test(inner)) on.tag(tagOf(inner));
    at = end.next;
  }
  if (at < markup.length) on.text(markup.slice(at));
}

/** Comments hold styles in SAMI files, and end with their own sign. */
function endOfTag(markup: string, open: number): { from: number; next: number } | undefined {
  const sign = markup.startsWith('<!--', open) ? '-->' : '>';
  const from = markup.indexOf(sign, open);
  return from < 0 ? undefined : { from, next: from + sign.length };
}

function tagOf(inner: string): Tag {
  const text = inner.slice(0, MOST_TAG).trim();
  const [closing, empty] = [text.startsWith('/'), text.endsWith('/')];
  const words = wordsOf(text.slice(closing ? 1 : 0, empty ? -1 : undefined));
  const attributes = Object.fromEntries(words.slice(1).map(attributeOf));
  return { name: bareName(words[0] ?? ''), closing, empty, attributes };
}

/** Without spaces around `=`. */
const joined = (text: string): string =>
  text
    .split('=')
    .map((part) => part.trim())
    .join('=');

/** The name of a tag and its attributes, `key="value"`, in one pass: quotes hold spaces. */
function wordsOf(text: string): string[] {
  const found: string[] = [];
  let word = '';
  let quote = '';
  for (const sign of joined(text)) {
    if (quote === '' && /\s/.test(sign)) {
      if (word !== '') found.push(word);
      word = '';
      continue;
    }
    if (sign === quote) quote = '';
    else if (quote === '' && (sign === '"' || sign === "'")) quote = sign;
    else word += sign;
  }
  return word === '' ? found : [...found, word];
}

function attributeOf(word: string): [string, string] {
  const at = word.indexOf('=');
  const key = at < 0 ? word : word.slice(0, at);
  return [bareName(key), at < 0 ? '' : word.slice(at + 1)];
}

const bareName = (name: string): string => name.slice(name.lastIndexOf(':') + 1).toLowerCase();

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Text with its entities resolved. */
export function plainText(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,8}));/gi, (all, ...parts: (string | undefined)[]) => {
    const [decimal, hex, name] = parts;
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '';
  });
}
