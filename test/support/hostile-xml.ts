// XML that reads files, grows, nests or never ends: NFO files, FictionBook and ComicInfo are made of it.
import type { HostileFile } from './hostile-media.ts';
import { mutated, type Next, pick } from './seeded.ts';
import { zipOf } from './zip-files.ts';

const ROOTS = { nfo: 'movie', fb2: 'FictionBook', cbz: 'ComicInfo' } as const;

function laughs(): string {
  const entities = Array.from({ length: 12 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`);
  return `<!DOCTYPE a [<!ENTITY e0 "ha">${entities.join('')}]>`;
}

const HEADS: readonly (() => string)[] = [
  () => '<?xml version="1.0"?>',
  () => '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
  () => '<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1/x.dtd"> %p;]>',
  () => '<!DOCTYPE a SYSTEM "http://127.0.0.1/x.dtd">',
  laughs,
  () => `<!DOCTYPE a [${'<!ENTITY x "y">'.repeat(50_000)}]>`,
  () => '<?xml version="1.0" encoding="UTF-32"?>',
  () => '<!--'.repeat(100_000),
];

const BODIES: readonly (() => string)[] = [
  () => '<title>&e12;&x;</title>',
  () => '<a>'.repeat(100_000),
  () => `<title ${Array.from({ length: 20_000 }, (_, n) => `a${n}="b"`).join(' ')}>x</title>`,
  () => `<title>${'A'.repeat(1_900_000)}</title>`,
  () => `<title a="${'&amp;'.repeat(300_000)}`,
  () => `<![CDATA[${'x'.repeat(1_000_000)}`,
  () => `<title>${'&#x0;&#1;&#xD800;&#99999999;'.repeat(20_000)}</title>`,
  () => Array.from({ length: 40_000 }, (_, n) => `<actor><name>A${n}</name></actor>`).join(''),
  () => `<title>x</title><rating>1e999</rating><year>-1</year><season>99999999999999999999</season>`,
  () => '</title>'.repeat(100_000),
  () => '<xi:include href="file:///etc/passwd" parse="text"/>',
  () => `<thumb>${'http://127.0.0.1/'.repeat(1000)}</thumb>`,
];

export function hostileXml(next: Next): HostileFile {
  const kind = pick(next, ['nfo', 'nfo', 'fb2', 'cbz'] as const);
  const root = ROOTS[kind];
  const text = `${pick(next, HEADS)()}<${root}>${pick(next, BODIES)()}${next(4) === 0 ? '' : `</${root}>`}`;
  const whole = Buffer.from(text, pick(next, ['utf8', 'utf8', 'utf16le', 'latin1'] as const));
  const bytes = next(3) === 0 ? mutated(whole, next) : whole;
  if (kind === 'nfo') return { way: 'nfo', name: 'movie.nfo', bytes };
  if (kind === 'fb2') return { way: 'book', name: 'book.fb2', bytes };
  return { way: 'comic', name: 'comic.cbz', bytes: zipOf({ 'ComicInfo.xml': bytes, '1.jpg': 'x' }, 'deflated') };
}
