/** Picture formats recognized by content. */
export type PictureFormat = 'png' | 'jpeg' | 'webp' | 'avif' | 'gif' | 'svg' | 'heif' | 'tiff' | 'bmp' | 'jxl';

export const mediaTypes: Readonly<Record<PictureFormat, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  avif: 'image/avif',
  gif: 'image/gif',
  svg: 'image/svg+xml',
  heif: 'image/heif',
  tiff: 'image/tiff',
  bmp: 'image/bmp',
  jxl: 'image/jxl',
};

const starts = (head: Buffer, ...octets: number[]): boolean => octets.every((octet, at) => head[at] === octet);
const word = (head: Buffer, at: number, length = 4): string => head.toString('latin1', at, at + length);

const signs: readonly [PictureFormat, (head: Buffer) => boolean][] = [
  ['png', (head) => starts(head, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)],
  ['jpeg', (head) => starts(head, 0xff, 0xd8, 0xff)],
  ['gif', (head) => /^GIF8[79]a/.test(word(head, 0, 6))],
  ['webp', (head) => word(head, 0) === 'RIFF' && word(head, 8) === 'WEBP'],
  ['avif', (head) => word(head, 4) === 'ftyp' && /avi[fs]/.test(brands(head))],
  ['heif', (head) => word(head, 4) === 'ftyp' && /hei[cxms]|hev[cxms]|mif1|msf1/.test(brands(head))],
  ['tiff', (head) => starts(head, 0x49, 0x49, 0x2a, 0) || starts(head, 0x4d, 0x4d, 0, 0x2a)],
  ['bmp', (head) => word(head, 0, 2) === 'BM' && head.length > 26 && head.readUInt32LE(6) === 0],
  ['jxl', (head) => starts(head, 0xff, 0x0a) || starts(head, 0, 0, 0, 0x0c, 0x4a, 0x58, 0x4c, 0x20)],
  ['svg', isSvg],
];

function brands(head: Buffer): string {
  return word(head, 8, Math.min(Math.max(head.readUInt32BE(0) - 8, 4), 120));
}

/** What may precede the root of a drawing, as pairs of begin and end. */
const BEFORE_ROOT: readonly [begins: string, ends: string][] = [
  ['<?', '>'],
  ['<!--', '-->'],
  ['<!doctype', '>'],
];

/** Where the next part of a document begins; the end of the text if this part does not end. */
function afterPart(text: string, at: number): number {
  const [begins, ends] = BEFORE_ROOT.find(([start]) => text.startsWith(start, at)) ?? [];
  if (begins === undefined || ends === undefined) return at;
  const closed = text.indexOf(ends, at + begins.length);
  if (closed < 0) return text.length;
  const inner = begins === '<!doctype' ? text.indexOf('[', at) : -1; // declarations may contain `>`
  if (inner < 0 || inner > closed) return closed + ends.length;
  const last = text.indexOf(']', inner);
  const end = last < 0 ? -1 : text.indexOf('>', last);
  return end < 0 ? text.length : end + 1;
}

/** One pass over comments, declarations and white space, up to the root. */
function isSvg(head: Buffer): boolean {
  const text = head
    .toString('utf8', 0, 4096)
    .replace(/^\uFEFF/, '')
    .toLowerCase();
  for (let at = 0; at < text.length; ) {
    const start = at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0);
    if (/^<svg[\s>/]/.test(text.slice(start, start + 5))) return true;
    at = afterPart(text, start);
    if (at === start) return false;
  }
  return false;
}

/** By content, never by name; undefined for anything but a known picture format. */
export function sniffPicture(bytes: Buffer): PictureFormat | undefined {
  if (bytes.length < 12) return undefined;
  return signs.find(([, fits]) => fits(bytes))?.[0];
}

const others = ['%PDF-', 'PK\u0003\u0004', '\u001f\u008b', '\u001aE\u00df\u00a3', 'ID3', '\u007fELF', 'MZ'];

/** Content of another well-known kind: a document, an archive, a film. */
export function isAnotherKind(bytes: Buffer): boolean {
  const head = word(bytes, 0, 16);
  return head.slice(4, 8) === 'ftyp' || others.some((sign) => head.startsWith(sign));
}
