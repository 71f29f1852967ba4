// Guides that are bombs: small as sent, huge when read. The process lives, its memory is bounded, and the reading ends.
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { expect } from 'chai';
import { temporaryFolder } from '#support/stores.ts';
import { readGuide } from '#workers/live/guide/read-guide.ts';
import { minute, programme } from './support.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** Of the thread, its heap, and what waits between the two. */
const MOST_MEMORY = 400 * MIB;

const head = '<?xml version="1.0"?><tv><channel id="one.example"><display-name>One</display-name></channel>';
const one = (more: string): string => programme({ at: 0, title: 'Film', more });

/** The start, the part until so many bytes of it were sent, and the end. */
function* repeated([start, part, end = '']: readonly [string, string, string?], bytes: number): Generator<string> {
  yield start;
  for (let sent = 0; sent < bytes; sent += part.length) yield part;
  yield end;
}

describe('bombs in place of guides', function () {
  this.timeout(900_000);
  const folder = temporaryFolder('bombs');

  /** Programmes that were read, or the code of the refusal. */
  async function read(name: string, parts: Iterable<string>): Promise<number | string> {
    const path = join(folder, `${name}.xml.gz`);
    await pipeline(Readable.from(parts), createGzip({ level: 1 }), createWriteStream(path));
    const before = process.memoryUsage().rss;
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss - before);
    }, 20);
    try {
      const reading = { path, shiftMs: 0, fromMs: minute(-60).getTime(), toMs: minute(1440).getTime() };
      const lines = readGuide(reading, AbortSignal.timeout(800_000));
      for (;;) {
        const { done, value } = await lines.next();
        if (done) return value.programs;
      }
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    } finally {
      clearInterval(watch);
      expect(most, `${name}: bytes of memory`).to.be.below(MOST_MEMORY);
    }
  }

  it('are read where they are guides, and cut: descriptions of a hundred kilobytes, half a gigabyte in all', async () => {
    const part = one(`<desc>${'harbour '.repeat(13_000)}</desc>`);
    expect(await read('long', repeated([head, part, '</tv>'], GIB / 2))).to.be.above(5000);
  });

  it('are read where each channel comes with its programmes, without the text around its name in memory', async () => {
    function* parts(): Generator<string> {
      yield '<?xml version="1.0"?><tv>';
      const description = one(`<desc>${'harbour '.repeat(2200)}</desc>`);
      for (let n = 10_000; n < 30_000; n += 1)
        yield `<channel id="channel-${n}.example"><display-name>Channel ${n}</display-name></channel>${description}`;
      yield '</tv>';
    }
    expect(await read('between', parts())).to.equal(20_000);
  });

  it('are refused over two gigabytes', async () => {
    expect(await read('huge', repeated([head, `<!-- ${' '.repeat(60_000)} -->`, '</tv>'], 2 * GIB + MIB))).to.equal(
      'too_large',
    );
  });

  it('are refused where an entry has no end: elements, attributes, entities', async () => {
    const start = `${head}<programme start="20261127200000" channel="one.example"><title>X</title>`;
    const attributes = `${head}<programme ${Array.from({ length: 200 }, (_, n) => `a${n}="${'x'.repeat(20_000)}"`).join(' ')}`;
    const entities = `<!DOCTYPE tv [${Array.from({ length: 30 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('')}]>`;
    expect(await read('deep', repeated([start, '<a>'.repeat(2000)], 400 * MIB))).to.be.oneOf([
      'unreadable',
      'incomplete',
      'not_xmltv',
    ]);
    expect(await read('wide', repeated([start, '<a/>'.repeat(2000)], 400 * MIB))).to.be.oneOf([
      'unreadable',
      'incomplete',
    ]);
    expect(await read('attributes', repeated([attributes, ' '.repeat(4096)], 16 * MIB))).to.equal('not_xmltv');
    expect(await read('entities', [entities, head, one('<desc>&e30;&e30;</desc>'), '</tv>'])).to.equal(1);
  });
});
