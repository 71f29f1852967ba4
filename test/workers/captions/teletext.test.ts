import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { CaptionCue } from '#platform/live/captions.ts';
import { temporaryFolder } from '#support/stores.ts';
import { type TeletextPage, teletextStream } from '#support/teletext.ts';
import { CaptionReader } from '#workers/captions/reader.ts';
import { Teletext } from '#workers/captions/teletext.ts';

/** Pictures and pages in one transport stream, as ffmpeg writes it. */
function station(pages: readonly TeletextPage[]): { path: string; bytes: Buffer } {
  const folder = temporaryFolder('teletext');
  const [text, path] = [join(folder, 'text.ts'), join(folder, 'station.ts')];
  writeFileSync(text, teletextStream(pages));
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=25:duration=12'];
  const args = [...picture, '-i', text, '-map', '0:v', '-map', '1:s', '-c:v', 'mpeg2video', '-c:s', 'copy'];
  const { status, stderr } = spawnSync('ffmpeg', [
    '-loglevel',
    'error',
    '-y',
    '-copyts',
    ...args,
    '-f',
    'mpegts',
    path,
  ]);
  if (status !== 0) throw new Error(String(stderr));
  return { path, bytes: readFileSync(path) };
}

/** The texts as ffmpeg with libzvbi reads them. */
function readByFfmpeg(path: string): string[] {
  const reading = [
    '-txt_format',
    'text',
    '-txt_page',
    'subtitle',
    '-txt_default_region',
    '0',
    '-fix_sub_duration',
    '-i',
    path,
  ];
  const { stdout } = spawnSync('ffmpeg', ['-loglevel', 'error', ...reading, '-map', '0:s', '-f', 'srt', '-']);
  return String(stdout)
    .trim()
    .split(/\r?\n\r?\n/)
    .map((block) =>
      block
        .split(/\r?\n/)
        .slice(2)
        .map((line) => line.trim())
        .join('\n'),
    );
}

function read(bytes: Buffer): CaptionCue[] {
  const reader = new CaptionReader();
  reader.push(bytes);
  reader.end();
  expect(reader.services()).to.deep.include({
    id: 'page888',
    kind: 'teletext',
    language: 'eng',
    hearingImpaired: false,
  });
  return reader.take('page888', 14_000);
}

describe('teletext subtitles', function () {
  this.timeout(30_000);

  it('are the texts and times that libzvbi reads, in the letters of each country', () => {
    const row = (text: string, at = 20) => ({ row: at, text });
    const pages: TeletextPage[] = [
      { atMs: 2000, lines: [row('Good evening,'), row('it costs #5.', 22)] },
      { atMs: 4000, lines: [row('F}r [rger ~ {hnlich')], national: 1 },
      { atMs: 6000, lines: [row('[ lev et d{lj~', 4)], national: 2 },
      { atMs: 7000, lines: [row('No{l # Paris @ gar`on')], national: 4 },
      { atMs: 8000, lines: [row('ma|ana [ sol')], national: 5 },
      { atMs: 9000, lines: [row('p@kn] den ~')], national: 6 },
      { atMs: 10_000, lines: [] },
    ];
    const { path, bytes } = station(pages);
    const cues = read(bytes);
    expect(cues.map(({ text }) => text)).to.deep.equal(readByFfmpeg(path));
    expect(cues[0]?.text).to.equal('Good evening,\nit costs £5.');
    expect(cues[1]?.text).to.equal('Für Ärger ß ähnlich');
    const shift = 2000 - (cues[0]?.startMs ?? 0);
    for (const [i, cue] of cues.entries()) {
      expect(cue.startMs + shift).to.be.closeTo(pages[i]?.atMs ?? 0, 1);
      expect(cue.endMs + shift).to.be.closeTo(pages[i + 1]?.atMs ?? 0, 1);
    }
    expect(cues[2]).to.include({ line: 16 });
    expect(cues[0]).not.to.have.property('line');
  });

  it('put one wrong bit of an address right, and leave out letters whose parity is wrong', () => {
    const bytes = teletextStream([{ atMs: 1000, lines: [{ row: 20, text: 'ABC' }] }]);
    const at = bytes.lastIndexOf(Buffer.from([0x2c, 0xe7, 0xe4]));
    const first = bytes.indexOf(Buffer.from([0x03, 0x2c, 0xe7, 0xe4]));
    const row = bytes.indexOf(Buffer.from([0x03, 0x2c, 0xe7, 0xe4]), first + 4);
    expect(at).to.be.above(row);
    bytes[row + 4] = (bytes[row + 4] ?? 0) ^ 0x10; // an address
    bytes[row + 4 + 2 + 3 + 1] = (bytes[row + 4 + 2 + 3 + 1] ?? 0) ^ 0x01; // the letter B
    const reader = new CaptionReader();
    reader.push(bytes);
    reader.end();
    expect(reader.take('page888', 5000).map(({ text }) => text)).to.deep.equal(['A C']);
  });

  it('survive any bytes', () => {
    const property = fc.property(fc.uint8Array({ minLength: 47, maxLength: 2000 }), fc.boolean(), (bytes, units) => {
      const decoder = new Teletext(['888', '100']);
      if (units) for (let at = 1; at + 1 < bytes.length; at += 46) bytes.set([3, 44], at);
      decoder.push(0, bytes);
      decoder.push(1000, bytes);
      decoder.take('888', 2000);
    });
    fc.assert(property, { numRuns: 300 });
  });
});
