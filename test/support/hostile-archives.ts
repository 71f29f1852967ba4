// Archives that unpack to much, lie, or name files elsewhere: comics and books are made of them.
import type { HostileFile } from './hostile-media.ts';
import { mutated, type Next, noise, pick } from './seeded.ts';
import { zipOf } from './zip-files.ts';

const CONTAINER = (path: string): string =>
  `<container><rootfiles><rootfile full-path="${path}" media-type="application/oebps-package+xml"/></rootfiles></container>`;
const OPF =
  '<package><metadata><dc:title>x</dc:title><meta name="cover" content="c"/></metadata><manifest><item id="c" href="%" media-type="image/jpeg"/></manifest></package>';

/** Names that lead elsewhere when they are unpacked. */
export const TRAVERSALS = [
  ...[
    '../x.jpg',
    '../../etc/passwd',
    '/etc/passwd',
    '\\..\\x.jpg',
    'C:\\x.jpg',
    'a/../../x.jpg',
    './../x.jpg',
    '....//x.jpg',
  ],
  ...[
    '..%2fx.jpg',
    '%2e%2e/x.jpg',
    '..\u2215x.jpg',
    'a\0/../x.jpg',
    '//host/x.jpg',
    '\\\\host\\x.jpg',
    '~/x.jpg',
    'CON.jpg',
  ],
];

/** Entries that are all the same stored bytes, so that little unpacks to much. */
function overlapping(): Buffer {
  const whole = zipOf({ 'a.jpg': Buffer.alloc(8 << 20) }, 'deflated');
  const directory = whole.indexOf(Buffer.from('PK\u0001\u0002', 'latin1'));
  const entry = whole.subarray(directory, whole.length - 22);
  const list = Buffer.concat(Array.from({ length: 2000 }, () => entry));
  const end = Buffer.from(whole.subarray(whole.length - 22));
  end.writeUInt16LE(2000, 8);
  end.writeUInt16LE(2000, 10);
  end.writeUInt32LE(list.length, 12);
  return Buffer.concat([whole.subarray(0, directory), list, end]);
}

/** The size of the first entry as another number than it is. */
function lying(): Buffer {
  const whole = zipOf({ 'ComicInfo.xml': Buffer.alloc(30 << 20, '<a>'), '1.jpg': 'x' }, 'deflated');
  whole.writeUInt32LE(10, whole.indexOf(Buffer.from('PK\u0001\u0002', 'latin1')) + 24);
  return whole;
}

function tar(name: string, size: string): Buffer {
  const head = Buffer.alloc(512);
  head.write(name.slice(0, 99), 0, 'latin1');
  head.write(size, 124, 'latin1');
  head.write('ustar', 257, 'latin1');
  return Buffer.concat([head, Buffer.alloc(2048)]);
}

const made: readonly ((next: Next) => Buffer)[] = [
  () => zipOf({ '1.jpg': Buffer.alloc(60 << 20) }, 'deflated'),
  () => zipOf(Object.fromEntries(Array.from({ length: 25_000 }, (_, n) => [`${n}.jpg`, '']))),
  () => zipOf(Object.fromEntries(TRAVERSALS.map((name) => [name, 'x']))),
  (next) => zipOf({ [pick(next, TRAVERSALS)]: 'x', '1.jpg': 'x' }),
  () => zipOf({ [`${'a/'.repeat(20_000)}1.jpg`]: 'x', [`${'\u202e'.repeat(900)}.jpg`]: 'x' }),
  () => zipOf({ '1.cbz': zipOf({ '2.cbz': zipOf({ '3.jpg': Buffer.alloc(10 << 20) }, 'deflated') }) }),
  overlapping,
  lying,
  (next) => Buffer.concat([Buffer.from("7z\xbc\xaf'\x1c\0\x04", 'latin1'), noise(next, 5000)]),
  (next) => Buffer.concat([Buffer.from('Rar!\x1a\x07\x01\0', 'latin1'), noise(next, 5000)]),
  (next) => Buffer.concat([Buffer.from('Rar!\x1a\x07\0', 'latin1'), noise(next, 5000)]),
  (next) => tar(pick(next, TRAVERSALS), pick(next, ['77777777777', '-1', '0', '\xff\xff\xff\xff\xff\xff\xff'])),
];

const books: readonly ((next: Next) => Record<string, string | Buffer>)[] = [
  (next) => ({ 'META-INF/container.xml': CONTAINER(pick(next, TRAVERSALS)) }),
  (next) => ({ 'META-INF/container.xml': CONTAINER('o.opf'), 'o.opf': OPF.replace('%', pick(next, TRAVERSALS)) }),
  () => ({ 'META-INF/container.xml': CONTAINER('o.opf'), 'o.opf': OPF.replace('%', 'http://127.0.0.1/c.jpg') }),
  () => ({
    'META-INF/container.xml': CONTAINER('o.opf'),
    'o.opf': `${OPF}${'<item id="x" href="y"/>'.repeat(300_000)}`,
  }),
  () => ({ 'META-INF/container.xml': CONTAINER('META-INF/container.xml') }),
  () => ({ 'META-INF/container.xml': '<a>'.repeat(200_000) }),
  () => ({ 'META-INF/container.xml': `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${CONTAINER('&x;')}` }),
  () => ({ 'META-INF/container.xml': Buffer.alloc(40 << 20, 32) }),
  () => ({
    'META-INF/container.xml': CONTAINER('o.opf'),
    'o.opf': OPF.replace('%', 'c.jpg'),
    'c.jpg': Buffer.alloc(50 << 20),
  }),
];

export function hostileArchive(next: Next): HostileFile {
  const isBook = next(2) === 0;
  const bytes = isBook
    ? zipOf({ mimetype: 'application/epub+zip', ...pick(next, books)(next) }, 'deflated')
    : pick(next, made)(next);
  const [way, name] = isBook
    ? (['book', 'book.epub'] as const)
    : (['comic', pick(next, ['comic.cbz', 'comic.cbr', 'comic.cb7', 'comic.cbt'])] as const);
  return { way, name, bytes: next(3) === 0 ? mutated(bytes, next) : bytes };
}
