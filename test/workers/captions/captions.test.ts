import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { CaptionCue } from '#platform/live/captions.ts';
import { CaptionScript, line21, packet708, window708, withCaptions } from '#support/captions.ts';
import { temporaryFolder } from '#support/stores.ts';
import { ccDataOf } from '#workers/captions/cc-data.ts';
import { Cea608 } from '#workers/captions/cea608.ts';
import { Cea708 } from '#workers/captions/cea708.ts';
import { CueTrack } from '#workers/captions/cue-track.ts';
import { CaptionReader } from '#workers/captions/reader.ts';

const CODECS = {
  mpeg2: ['-c:v', 'mpeg2video', '-bf', '2', '-g', '12'],
  h264: ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-g', '50', '-pix_fmt', 'yuv420p'],
};

function ffmpeg(args: string[]): string {
  const { status, stdout, stderr } = spawnSync('ffmpeg', ['-hide_banner', '-loglevel', 'error', '-y', ...args]);
  if (status !== 0) throw new Error(String(stderr));
  return String(stdout);
}

/** Ten seconds of pictures, out of order as encoders send them, with captions. */
function station(kind: keyof typeof CODECS, script: CaptionScript): { path: string; bytes: Buffer } {
  const folder = temporaryFolder('captions');
  const source = ['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=25:duration=10'];
  ffmpeg([...source, ...CODECS[kind], '-f', 'mpegts', join(folder, 'plain.ts')]);
  const bytes = withCaptions(readFileSync(join(folder, 'plain.ts')), (atMs) => script.at(atMs));
  const path = join(folder, 'captioned.ts');
  writeFileSync(path, bytes);
  return { path, bytes };
}

const ms = (text: string): number => {
  const [h, m, s] = text.replace(',', '.').split(':').map(Number);
  return Math.round(((h ?? 0) * 3600 + (m ?? 0) * 60 + (s ?? 0)) * 1000);
};

/** The cues as ffmpeg's own decoder reads them. */
function readByFfmpeg(path: string): CaptionCue[] {
  const text = ffmpeg(['-f', 'lavfi', '-i', `movie=${path}[out+subcc]`, '-map', '0:s', '-f', 'srt', '-']);
  return text
    .trim()
    .split(/\r?\n\r?\n/)
    .map((block) => {
      const [, times = '', ...lines] = block.split(/\r?\n/);
      const [startMs = 0, endMs = 0] = times.split(' --> ').map(ms);
      const plain = lines.join('\n').replace(/<[^>]*>|\{[^}]*\}|\\h/g, '');
      return {
        startMs,
        endMs,
        text: plain
          .split('\n')
          .map((line) => line.trim())
          .join('\n'),
      };
    });
}

function read(bytes: Buffer, growthMs?: number): CaptionReader {
  const reader = new CaptionReader(growthMs);
  reader.push(bytes);
  reader.end();
  return reader;
}

/** Pairs of a channel, one each 40 ms, as a picture has them. */
function decoded(script: CaptionScript, channel = 1): CaptionCue[] {
  const decoder = new Cea608();
  for (let atMs = 0; atMs < 10_000; atMs += 40)
    for (const [type, a, b] of script.at(atMs)) decoder.push(atMs, type, [a, b]);
  return decoder.take(channel, 10_000);
}

const texts = (cues: readonly CaptionCue[]): string[] => cues.map(({ text }) => text);

describe('closed captions', function () {
  this.timeout(30_000);

  for (const kind of ['h264', 'mpeg2'] as const) {
    it(`are read from ${kind} pictures as ffmpeg reads them`, () => {
      const script = new CaptionScript()
        .field(500, line21.popOn('HELLO THERE,\nGENERAL'))
        .field(3000, line21.popOn('(door slams)'))
        .field(5000, line21.clear())
        .field(6000, line21.popOn('CAF| N~AME')) // letters outside ASCII
        .field(8500, line21.clear());
      const { path, bytes } = station(kind, script);
      const reader = read(bytes);
      const own = reader.take('cc1', 20_000);
      const theirs = readByFfmpeg(path);
      expect(own.map(({ text }) => text)).to.deep.equal(['HELLO THERE,\nGENERAL', '(door slams)', 'CAF÷ NñAME']);
      expect(own.map(({ text }) => text)).to.deep.equal(theirs.map(({ text }) => text));
      const shift = (own[0]?.startMs ?? 0) - (theirs[0]?.startMs ?? 0); // ffmpeg counts from the first picture
      for (const [i, cue] of own.entries()) {
        expect(cue.startMs - shift).to.be.closeTo(theirs[i]?.startMs ?? 0, 45);
        expect(cue.endMs - shift).to.be.closeTo(theirs[i]?.endMs ?? 0, 45);
      }
      expect(reader.services().map(({ id }) => id)).to.deep.equal(['cc1']);
    });
  }

  it('roll up line by line, are painted, and stand at their place', () => {
    const script = new CaptionScript()
      .field(0, line21.rollUp('FIRST LINE'))
      .field(2000, line21.rollUp('SECOND'))
      .field(4000, line21.rollUp('THIRD'))
      .field(6000, [...line21.clear(), ...line21.paintOn('PAINTED')])
      .field(8000, line21.popOn('ON TOP', 1));
    const cues = decoded(script);
    expect(texts(cues)).to.deep.equal([
      ...['FIRST LINE', 'FIRST LINE\nSECOND', 'SECOND', 'SECOND\nTHIRD', 'PAINTED', 'ON TOP'],
    ]);
    expect(cues[0]?.startMs).to.be.below(400);
    expect(cues.at(-1)).to.include({ line: 10 });
    expect(cues[0]).not.to.have.property('line');
  });

  it('of four channels are kept apart, without programme data between them', () => {
    const script = new CaptionScript()
      .field(0, [...line21.popOn('ONE'), ...line21.second(line21.popOn('TWO'))])
      .field(0, [[0x01, 0x03], [0x41, 0x42], [0x0f, 0x1d], ...line21.popOn('THREE')], 1);
    const decoder = new Cea608();
    for (let atMs = 0; atMs < 4000; atMs += 40)
      for (const [type, a, b] of script.at(atMs)) decoder.push(atMs, type, [a, b]);
    expect(decoder.heard).to.deep.equal([1, 2, 3]);
    expect([1, 2, 3].flatMap((channel) => texts(decoder.take(channel, 4000)))).to.deep.equal(['ONE', 'TWO', 'THREE']);
  });

  it('of CEA-708 are read by service, from visible windows alone', () => {
    const hidden = window708('LATER').map((code, at) => (at === 3 ? 0x18 : code));
    const script = new CaptionScript()
      .digital(1000, packet708(1, 0, window708('Hello \xe9\x7f\nthere')))
      .digital(2000, packet708(2, 1, window708('Hola', 10)))
      .digital(3000, packet708(1, 2, hidden))
      .digital(4000, packet708(1, 3, [0x89, 0x01]))
      .digital(6000, packet708(1, 0, [0x8a, 0x01]));
    const { bytes } = station('h264', script);
    const reader = read(bytes);
    const cues = reader.take('service1', 20_000);
    expect(texts(cues)).to.deep.equal(['Hello é♪\nthere', 'LATER']);
    const first = cues[0]?.startMs ?? 0;
    const times = cues.map(({ startMs, endMs }) => [startMs - first + 1000, endMs - first + 1000]);
    expect(times).to.deep.equal([
      [1000, 3000],
      [4000, 6000],
    ]);
    expect(reader.take('service2', 20_000)[0]).to.include({ text: 'Hola', line: 3 });
    const languages = [
      { id: 'cc1', language: 'eng' },
      { id: 'service1', language: 'eng' },
      { id: 'service2', language: 'spa' },
    ];
    expect(reader.services(languages).map(({ id, language }) => `${id} ${language}`)).to.deep.equal([
      'cc1 eng',
      'service2 spa',
    ]);
  });

  it('are cut where a segment ends, and go on in the next one', () => {
    const { bytes } = station('h264', new CaptionScript().field(1000, line21.popOn('LONG')));
    const reader = new CaptionReader();
    const half = Math.floor(bytes.length / 376) * 188;
    reader.push(bytes.subarray(0, half));
    const before = reader.take('cc1', 5000);
    reader.push(bytes.subarray(half));
    reader.end();
    const after = reader.take('cc1', 11_000);
    expect([...before, ...after].map(({ text, endMs }) => [text, endMs])).to.deep.equal([
      ['LONG', 5000],
      ['LONG', 11_000],
    ]);
    expect(after[0]?.startMs).to.equal(5000);
  });

  it('survive any bytes within bounds of time and memory', () => {
    const triplet = fc.tuple(
      fc.integer({ min: 0, max: 3 }),
      fc.integer({ min: 0, max: 255 }),
      fc.integer({ min: 0, max: 255 }),
    );
    const property = fc.property(
      fc.array(triplet, { maxLength: 400 }),
      fc.uint8Array({ maxLength: 600 }),
      (triplets, noise) => {
        const [fields, digital] = [new Cea608(), new Cea708()];
        for (const [i, [type, a, b]] of triplets.entries()) {
          if (type < 2) fields.push(i * 40, type, [a, b]);
          else digital.push(i * 40, type === 3, [a, b]);
        }
        const head = Buffer.from([0, 0, 1, 6, 4, noise.length % 256, 0xb5, 0, 0x31, 0x47, 0x41, 0x39, 0x34, 3]);
        for (const codec of ['mpeg2', 'h264', 'hevc'] as const) ccDataOf(Buffer.concat([head, noise]), codec);
        const packets = Buffer.alloc(188 * 4, 0x47);
        packets.set(noise.subarray(0, packets.length), triplets.length % 2);
        read(packets);
      },
    );
    fc.assert(property, { numRuns: 300 });
    const usedBy = (count: number): number => {
      const began = process.cpuUsage().user;
      const [painter, writer] = [new Cea608(), new Cea708()];
      for (const [a, b] of line21.paintOn('')) painter.push(0, 0, [a | 0x80, b]);
      for (let i = 0; i < count; i += 1) {
        painter.push(i * 33, 0, [0xc1, 0xc2]);
        const packet = packet708(1, i, i === 0 ? window708('A') : [0x41, 0x42]);
        for (const [type, a, b] of packet) writer.push(i * 33, type === 3, [a, b]);
      }
      expect(writer.take(1, 1e9).every(({ text }) => text.length < 2001)).to.equal(true);
      expect(painter.take(1, 1e9).length).to.be.below(20_002);
      return process.cpuUsage().user - began;
    };
    usedBy(5000);
    expect(usedBy(80_000) / usedBy(20_000)).to.be.below(10); // 4 for linear time, 16 for quadratic
  });

  it('keep a bounded amount of text that no one takes', () => {
    const track = new CueTrack();
    for (let at = 0; at < 20_000; at += 1) track.show(at * 1000, { text: `${at} `.repeat(1000) });
    const letters = track.take(1e9).reduce((sum, { text }) => sum + text.length, 0);
    expect(letters).to.be.within(1_000_000, 1_100_000);
  });
});
