// Broken and hostile pictures, archives, books, drawings, XML and names, each made from its number: the same number gives the same bytes.
import { deflateSync, gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { hostileArchive } from './hostile-archives.ts';
import { hostileXml } from './hostile-xml.ts';
import { trackBytes } from './music-files.ts';
import { bomb } from './pictures.ts';
import { rawFile } from './raw-files.ts';
import { mutated, type Next, noise, pick, seeded } from './seeded.ts';
import { zipOf } from './zip-files.ts';

/** How the file reaches Foyer. */
export type Way = 'photo' | 'book' | 'comic' | 'music' | 'picture' | 'svg' | 'nfo' | 'names';

export interface HostileFile {
  way: Way;
  /** With its extension. */
  name: string;
  /** Of names, a list in JSON. */
  bytes: Buffer;
}

const FORMATS = ['jpeg', 'png', 'webp', 'gif', 'tiff', 'avif'] as const;
const kept = new Map<string, Promise<Buffer>>();

/** A good picture of each format, made once. */
function good(format: (typeof FORMATS)[number]): Promise<Buffer> {
  const picture = sharp({ create: { width: 160, height: 120, channels: 3, background: '#c05020' } });
  const made =
    kept.get(format) ??
    picture
      .withExif({ IFD0: { Copyright: 'x' } })
      .toFormat(format)
      .toBuffer();
  kept.set(format, made);
  return made;
}

async function rawOf(): Promise<Buffer> {
  const small = await good('jpeg');
  return rawFile(small, small);
}

async function brokenPicture(next: Next): Promise<HostileFile> {
  const format = pick(next, [...FORMATS, 'dng'] as const);
  const whole = format === 'dng' ? await rawOf() : await good(format);
  const way = pick(next, ['photo', 'picture'] as const);
  return { way, name: `broken.${format}`, bytes: mutated(whole, next) };
}

/** Much for little: sides, frames and strips that a decoder would take memory for. */
async function hugePicture(next: Next): Promise<HostileFile> {
  const jpeg = Buffer.from(await good('jpeg'));
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
  if (frame > 0) jpeg.writeUInt32BE(0xffff_ffff, frame + 5);
  const made: readonly (() => Promise<Buffer> | Buffer)[] = [
    () => bomb(60_000, 8000),
    () => bomb(64, 900_000),
    () => jpeg,
    async () => lying(await good('png'), 16, next),
    async () => lying(await good('gif'), 6, next),
    async () => lying(await good('webp'), 24, next),
    async () => lying(await good('tiff'), 4, next),
    async () => Buffer.concat([await good('gif'), ...Array.from({ length: 20_000 }, () => Buffer.from([0x2c]))]),
  ];
  return { way: pick(next, ['photo', 'picture'] as const), name: 'huge.jpg', bytes: await pick(next, made)() };
}

/** All ones where a length, a width or an offset stands. */
function lying(picture: Buffer, at: number, next: Next): Buffer {
  const copy = Buffer.from(picture);
  copy.fill(0xff, at, at + 2 + next(3));
  return copy;
}

/** Two kinds in one file. */
async function polyglot(next: Next): Promise<HostileFile> {
  const page = Buffer.from('<html><script>alert(1)</script><svg onload=alert(1)>');
  const picture = await good(pick(next, FORMATS));
  const bytes = pick(next, [
    () => Buffer.concat([picture, page]),
    () => Buffer.concat([picture, zipOf({ '../x.jpg': picture })]),
    () => Buffer.concat([picture, Buffer.from('%PDF-1.7\n'), noise(next, 4000)]),
    () => Buffer.concat([Buffer.from('GIF89a/*'), page, Buffer.from('*/=1;')]),
    () => Buffer.concat([Buffer.from('%PDF-1.7\n'), picture]),
    () => Buffer.concat([picture.subarray(0, 20), gzipSync(page)]),
  ])();
  const [way, end] = pick(next, [
    ['picture', 'jpg'],
    ['photo', 'png'],
    ['comic', 'cbz'],
    ['book', 'pdf'],
    ['music', 'mp3'],
  ] as const);
  return { way, name: `two.${end}`, bytes };
}

/** Drawings that run, read, repeat or never end. */
function drawing(next: Next): HostileFile {
  const uses = Array.from({ length: 12 }, (_, n) => `<g id="g${n + 1}">${`<use href="#g${n}"/>`.repeat(12)}</g>`).join(
    '',
  );
  const entities = Array.from({ length: 10 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('');
  const inside = pick(next, [
    () => '<script>fetch("http://127.0.0.1/")</script>',
    () => '<image href="file:///etc/passwd" width="9" height="9"/>',
    () => `<image href="http://127.0.0.1/x.png"/><style>@import url(http://[::1]/)</style>`,
    () => `<defs><g id="g0"><rect width="1" height="1"/></g>${uses}</defs><use href="#g12"/>`,
    () => '<g>'.repeat(100_000),
    () => `<path d="${'M0 0 L1 1 '.repeat(200_000)}"/>`,
    () =>
      `<filter id="f"><feGaussianBlur stdDeviation="99999"/></filter><rect filter="url(#f)" width="9999999" height="9999999"/>`,
    () => `<text font-size="1e30">${'A'.repeat(500_000)}</text>`,
    () => `<foreignObject><iframe src="javascript:alert(1)"/></foreignObject>`,
    () =>
      `<pattern id="p" width="1e-9" height="1e-9"><use href="#p"/></pattern><rect fill="url(#p)" width="9" height="9"/>`,
  ])();
  const head = pick(next, [
    '',
    '<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY e0 "ha">${entities}]>`,
    '<?xml version="1.0" encoding="UTF-7"?>',
  ]);
  const text = `${head}<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${pick(next, ['9 9', '1e300 1e300', 'NaN 0'])}">${inside}&e10;&x;</svg>`;
  const bytes = Buffer.from(text, next(8) === 0 ? 'utf16le' : 'utf8');
  return { way: 'svg', name: 'drawing.svg', bytes: next(3) === 0 ? mutated(bytes, next) : bytes };
}

/** A document whose objects lie, repeat or unpack to much. */
function document(next: Next): HostileFile {
  const stream = deflateSync(Buffer.alloc(pick(next, [1 << 20, 40 << 20]), pick(next, ['q\n', '0 0 m\n', '\0'])));
  const packed = `<</Length ${stream.length}/Filter/FlateDecode>>stream\n`;
  const nested = `${'<</Kids['.repeat(20_000)}${']>>'.repeat(20_000)}`;
  const body = pick(next, [
    `1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Count 99999999/Kids[2 0 R 2 0 R]>>endobj`,
    `1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj 2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj`,
    `1 0 obj${nested}endobj`,
    `1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj ${'2 0 obj<</Type/Page>>endobj '.repeat(20_000)}`,
  ]);
  const tail = pick(next, [
    'trailer<</Root 1 0 R/Size 9>>startxref\n0\n%%EOF',
    'trailer<</Root 1 0 R/Prev 9/Info<</Title(%s)>>>>startxref\n9\n%%EOF',
    'xref\n0 4294967295\ntrailer<</Root 1 0 R>>%%EOF',
    '',
  ]);
  const parts = ['%PDF-1.7\n', body, `4 0 obj${packed}`].map((text) => Buffer.from(text, 'latin1'));
  const bytes = Buffer.concat([...parts, stream, Buffer.from(`\nendstream endobj ${tail}`, 'latin1')]);
  return { way: 'book', name: 'document.pdf', bytes: next(2) ? mutated(bytes, next) : bytes };
}

/** A Palm database whose records lie outside of it. */
function palm(next: Next): HostileFile {
  const head = Buffer.alloc(512 + next(4000), pick(next, [0, 0xff, 0x41]));
  head.write('BOOKMOBI', 60, 'latin1');
  head.writeUInt16BE(pick(next, [1, 0xffff]), 76);
  head.writeUInt32BE(pick(next, [100, 0xffff_fff0]), 78);
  head.write('MOBI', 116, 'latin1');
  head.writeUInt32BE(pick(next, [232, 0xffff_ffff]), 120);
  head.write('EXTH', 348, 'latin1');
  head.writeUInt32BE(0xffff_ffff, 356);
  return { way: 'book', name: pick(next, ['palm.mobi', 'palm.azw3']), bytes: next(2) ? mutated(head, next) : head };
}

/** Tags that claim more than there is. */
async function song(next: Next): Promise<HostileFile> {
  const large = 'A'.repeat(pick(next, [1000, 3_000_000]));
  const track = await trackBytes({
    TIT2: large,
    TPE1: Array.from({ length: 5000 }, (_, n) => `A${n}`),
    TRCK: '-1/9e9',
  });
  const claims = Buffer.from(track);
  claims.fill(0x7f, 6, 10);
  const bytes = pick(next, [
    () => mutated(track, next),
    () => claims,
    () => Buffer.concat([Buffer.from('fLaC\x84\xff\xff\xff', 'latin1'), noise(next, 3000)]),
    () => Buffer.concat([Buffer.from('OggS\0\x02', 'latin1'), Buffer.alloc(20, 0xff), noise(next, 3000)]),
    () => Buffer.concat([Buffer.from('\0\0\0\x18ftypM4A ', 'latin1'), noise(next, 3000)]),
    () => Buffer.concat([Buffer.from('RIFF\xff\xff\xff\xffWAVEfmt \xff\xff\xff\x7f', 'latin1'), noise(next, 300)]),
    () => Buffer.concat(Array.from({ length: 20_000 }, () => Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'))),
  ])();
  return { way: 'music', name: pick(next, ['song.mp3', 'song.flac', 'song.ogg', 'song.m4a', 'song.wav']), bytes };
}

/** Repeated, each keeps a careless pattern busy. */
const WORDS = [
  ...[
    'a',
    '(',
    '[',
    '{',
    ' ',
    '.',
    '-',
    '_',
    '0',
    '1x',
    'S01',
    'E01',
    'S01E',
    'x264',
    '1080p',
    'CD1 ',
    'pt1',
    '((',
    '[[',
    '2001 ',
  ],
  ...[
    '(2001)',
    '[tmdbid-',
    ' - ',
    ' & ',
    'feat. ',
    '\u202e',
    '\u0300',
    '\ud800',
    '\t',
    '１',
    'ß',
    'ﷺ',
    '👨‍👩‍👧',
    '%s',
    '../',
    '\\',
    '\0',
    'v.',
    '#1 ',
  ],
];
const ENDS = ['.mkv', '.mp3', '.jpg', '.epub', '.cbz', '.zip', '.nfo', '.pdf', ''];

function names(next: Next): HostileFile {
  const one = (): string => {
    const words = Array.from({ length: 1 + next(4) }, () => pick(next, WORDS).repeat(1 + next(120)));
    return `${words.join('')}${pick(next, ENDS)}`;
  };
  const list = Array.from({ length: 40 }, one);
  return { way: 'names', name: 'names', bytes: Buffer.from(JSON.stringify(list)) };
}

const KINDS: readonly ((next: Next) => HostileFile | Promise<HostileFile>)[] = [
  ...[brokenPicture, brokenPicture, hugePicture, polyglot, hostileArchive, hostileArchive],
  ...[hostileXml, hostileXml, drawing, document, palm, song, names],
];

export async function hostileMedia(number: number): Promise<HostileFile> {
  return (KINDS[number % KINDS.length] ?? names)(seeded(number));
}
