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
const ATTRIBUTE = /([\w:.-]{1,64})\s{0,8}=\s{0,8}(?:"([^"]{0,512})"|'([^']{0,512})'|([^\s"'>]{1,512}))/g;

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
  const text = inner.slice(0, MOST_TAG);
  const [, slash = '', name = ''] = /^\s{0,8}(\/?)\s{0,8}([\w:.-]{0,64})/.exec(text) ?? [];
  const attributes: Record<string, string> = {};
  for (const [, key = '', double, single, bare] of text.matchAll(ATTRIBUTE))
    attributes[bareName(key)] = double ?? single ?? bare ?? '';
  return { name: bareName(name), closing: slash !== '', empty: text.endsWith('/'), attributes };
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
