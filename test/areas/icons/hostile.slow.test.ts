// Icon sets of attackers over the API: each gets a verdict in time, and the server goes on.
import { readFileSync } from 'node:fs';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { png } from '#support/pictures.ts';
import { startApiProcess } from '#support/processes.ts';
import { randomOf } from '#support/timed-texts.ts';
import { zipOf } from '#support/zip-files.ts';

const VERDICT_MS = 30_000;
const MOST_MEMORY = 600 << 20;
const MADE = 150;

const svg = (inside: string, attributes = 'viewBox="0 0 24 24"'): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${inside}</svg>`;
const box = '<path d="M2 2h20v20H2z" fill="#336699"/>';
const laughs = Array.from({ length: 12 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('');
const doubling = Array.from({ length: 30 }, (_, n) => `<g id="l${n + 1}"><use href="#l${n}"/><use href="#l${n}"/></g>`);

const SVGS: Record<string, string | Buffer> = {
  'entities that grow': `<!DOCTYPE svg [<!ENTITY l0 "ha">${laughs}]>${svg('<title>&l12;</title>')}`,
  'an entity of a file': `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svg('<title>&x;</title>')}`,
  'an entity of a parameter': `<!DOCTYPE svg [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd">%x;]>${svg(box)}`,
  'uses that double': svg(`<g id="l0">${box}</g>${doubling.join('')}`),
  'groups within groups': `${svg(`${'<g>'.repeat(40_000)}${'</g>'.repeat(40_000)}`)}`,
  'a path without end': svg(`<path d="M0 0${'L1 1'.repeat(60_000)}"/>`),
  'a curve of huge numbers': svg(`<path d="M-1e38 1e38C${'1e308 '.repeat(600)}z"/>`),
  'a canvas without end': svg(box, 'width="1e9" height="1e9" viewBox="0 0 1e-9 1e-9"'),
  'dashes without end': svg('<path d="M0 0h1e9" stroke="red" stroke-width="1e9" stroke-dasharray="1e-9"/>'),
  'masks of masks': svg(
    `${Array.from({ length: 30 }, (_, n) => `<mask id="m${n}"><path d="M0 0h9v9z" mask="url(#m${n + 1})"/></mask>`).join('')}<path mask="url(#m0)" d="M0 0h9v9z"/>`,
  ),
  'attributes without end': svg(`<path ${Array.from({ length: 20_000 }, (_, n) => `a${n}="1"`).join(' ')} d="M0 0"/>`),
  'a transform without end': svg(`<path transform="${'scale(9) '.repeat(20_000)}" d="M0 0h1v1z"/>`),
  'quotes that do not end': `<svg xmlns="http://www.w3.org/2000/svg" a="${'x'.repeat(200_000)}`,
  'brackets without end': '<'.repeat(200_000),
  'comments without end': svg('<!--'.repeat(50_000)),
  'data without end': svg(`<![CDATA[${']'.repeat(200_000)}`),
  'a script behind zeros': svg('<scr\0ipt>alert(1)</scr\0ipt>'),
  'a script in another width': Buffer.from(`\uFEFF${svg('<script>alert(1)</script>')}`, 'utf16le'),
  'a script in seven bits':
    '+ADw-svg xmlns=+ACI-http://www.w3.org/2000/svg+ACIAPgA8-script+AD4-alert(1)+ADw-/script+AD4APA-/svg+AD4-',
  'a packed drawing': gzipSync(svg(box)),
  'a packed bomb': gzipSync(Buffer.alloc(200 << 20, ' ')),
};

/** A ZIP whose directory says something else than its entries. */
function changed(zip: Buffer, mark: string, change: (entry: Buffer) => void): Buffer {
  const copy = Buffer.from(zip);
  change(copy.subarray(copy.indexOf(Buffer.from(mark, 'latin1'))));
  return copy;
}

const DIRECTORY = 'PK\u0001\u0002';
const END = 'PK\u0005\u0006';
const plain = zipOf({ 'a.svg': svg(box), 'b.svg': svg(box) }, 'deflated');
const nested = Array.from({ length: 5 }).reduce<Buffer>(
  (inner) => zipOf({ 'a.zip': inner, 'b.zip': inner }, 'stored'),
  plain,
);

const ZIPS: Record<string, Buffer> = {
  'paths that leave': zipOf({
    '../../../etc/a.svg': svg(box),
    '/etc/b.svg': svg(box),
    '..\\c.svg': svg(box),
    'C:\\d.svg': svg(box),
  }),
  'a bomb': zipOf({ 'a.svg': Buffer.alloc(60 << 20, ' ') }, 'deflated'),
  'many bombs': zipOf(
    Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`${n}.svg`, Buffer.alloc(1 << 20, ' ')])),
    'deflated',
  ),
  'too many entries': zipOf(Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`${n}.svg`, '']))),
  'archives in archives': nested,
  'an entry larger than it says': changed(
    zipOf({ 'a.svg': Buffer.alloc(50 << 20, ' ') }, 'deflated'),
    DIRECTORY,
    (at) => at.writeUInt32LE(10, 24),
  ),
  'an entry smaller than it says': changed(plain, DIRECTORY, (at) => at.writeUInt32LE(0xfffffff0, 24)),
  'an entry outside of the file': changed(plain, DIRECTORY, (at) => at.writeUInt32LE(0xfffffff0, 42)),
  'a directory outside of the file': changed(plain, END, (at) => at.writeUInt32LE(0xfffffff0, 16)),
  'more entries than there are': changed(plain, END, (at) => at.writeUInt16LE(65_535, 10)),
  'a locked entry': changed(plain, DIRECTORY, (at) => at.writeUInt16LE(1, 8)),
  'another way of packing': changed(plain, DIRECTORY, (at) => at.writeUInt16LE(99, 10)),
  'a link': changed(plain, DIRECTORY, (at) => {
    at.writeUInt16LE(0x0314, 4);
    at.writeUInt32LE(0xa1ff0000, 38);
  }),
  'a name without end': zipOf({ [`${'n'.repeat(60_000)}.svg`]: svg(box) }),
  'names of other texts': zipOf({
    '\u202egvs.a.svg': svg(box),
    'a\0.svg': svg(box),
    'con.svg': svg(box),
    ' .svg': svg(box),
  }),
  'nothing at all': zipOf({}),
  'half of a file': plain.subarray(0, plain.length / 2),
  'a stream without end': Buffer.concat([plain.subarray(0, 40), deflateRawSync(Buffer.alloc(30 << 20, 'x'))]),
};

describe('icon sets of attackers', function () {
  this.timeout(900_000);
  let api: Api;
  let admin: TestClient;
  let headers: Record<string, string>;
  let setId: string;
  let server: { pid: number; url: string };

  before(async () => {
    api = await startApi();
    const owner = await api.given.owner();
    admin = api.as(owner);
    headers = owner.headers;
    server = await startApiProcess(api);
    setId = (await admin.createIconSet({ body: { name: 'Hostile' } })).body.id;
    await verdict('plain.svg', Buffer.from(svg(box))); // the pool starts
  });

  /** The status of an upload; it was given in time, and the API answered others meanwhile. */
  async function verdict(name: string, bytes: Buffer): Promise<{ status: number; text: string }> {
    const form = new FormData();
    form.append('files', new Blob([new Uint8Array(bytes)]), name);
    form.append('onDuplicate', 'replace');
    const began = Date.now();
    const sent = fetch(`${server.url}/api/v1/icon-sets/${setId}/icons`, { method: 'POST', headers, body: form });
    expect((await fetch(`${server.url}/api/v1/server/live`)).status).to.equal(200);
    const response = await sent;
    const text = await response.text();
    expect(Date.now() - began, name).to.be.below(VERDICT_MS);
    return { status: response.status, text };
  }
  const expected = ({ status, text }: { status: number; text: string }, name: string): void => {
    expect(status, `${name}: ${text}`).to.be.oneOf([201, 400, 413, 415, 422]);
    expect(text, name).to.not.match(/root:|at \/|node_modules/);
  };

  it('of drawings are refused or drawn', async () => {
    for (const [name, content] of Object.entries(SVGS)) {
      const found = await verdict('a.svg', Buffer.from(content));
      expected(found, name);
      const isRefused = found.status !== 201 || (JSON.parse(found.text) as { refused: unknown[] }).refused.length === 1;
      if (/script|entity|entities|packed|double|within/.test(name))
        expect(isRefused, `${name}: ${found.text}`).to.equal(true);
    }
  });

  it('of archives are refused or read by their entries', async () => {
    for (const [name, content] of Object.entries(ZIPS)) expected(await verdict('a.zip', content), name);
    const rows = await api.deps.db('icons').where({ set_id: setId }).select('name');
    for (const { name } of rows) expect(name).to.match(/^[a-z0-9-]{1,60}$/);
  });

  it(`of ${MADE} damaged files are refused or drawn, in bounded memory`, async () => {
    const random = randomOf(20);
    const sources = [
      Buffer.from(svg(box)),
      plain,
      await png(64, 64),
      Buffer.from(svg(`<g id="a">${box}</g><use href="#a"/>`)),
    ];
    for (let n = 0; n < MADE; n += 1) {
      const source = Buffer.from(sources[n % sources.length] ?? plain);
      for (let flips = 0; flips < 1 + random() * 20; flips += 1)
        source[Math.floor(random() * source.length)] = Math.floor(random() * 256);
      expected(await verdict(n % 4 === 1 ? `${n}.zip` : n % 4 === 2 ? `${n}.png` : `${n}.svg`, source), `file ${n}`);
    }
    for await (const { key } of api.deps.objects.list('foyer-artwork', 'icons/'))
      expect(key).to.match(/^icons\/[0-9a-f]{64}$/);
    const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) * 1024;
    expect(peak).to.be.below(MOST_MEMORY);
    expect((await admin.getIconSet({ params: { id: setId } })).status).to.equal(200);
  });
});
