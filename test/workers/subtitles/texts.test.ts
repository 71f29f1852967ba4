import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import { connectObjects } from '#platform/objects.ts';
import { parseCues } from '#platform/subtitles/cues.ts';
import { tool } from '#support/hls-validator.ts';
import { temporaryFolder } from '#support/stores.ts';
import { Unsure } from '#workers/probe/fault.ts';
import { ID } from '#workers/probe/matroska/ids.ts';
import { matroskaFonts, matroskaTexts } from '#workers/subtitles/matroska-texts.ts';
import { takeOutTexts } from '#workers/subtitles/take-out.ts';

const signal = new AbortController().signal;
type Part = Buffer | string | number;

/** An EBML element of these parts: numbers as one to four bytes, text as UTF-8. */
function element(id: number, ...parts: Part[]): Buffer {
  const body = Buffer.concat(parts.map(bytesOf));
  const head = Buffer.from(id.toString(16), 'hex');
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(body.length) | (1n << 56n));
  return Buffer.concat([head, size, body]);
}

function bytesOf(part: Part): Buffer {
  if (typeof part === 'string') return Buffer.from(part);
  if (typeof part !== 'number') return part;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(part);
  return bytes;
}

const block = (track: number, ms: number, text: Buffer | string): Buffer => {
  const head = Buffer.from([0x80 | track, 0, 0, 0]);
  head.writeInt16BE(ms, 1);
  return Buffer.concat([head, bytesOf(text)]);
};
const lasting = (track: number, [ms, duration]: [number, number], text: Buffer | string): Buffer =>
  element(ID.blockGroup, element(ID.block, block(track, ms, text)), element(ID.blockDuration, duration));
const cluster = (ms: number, ...blocks: Buffer[]): Buffer => element(ID.cluster, element(ID.timestamp, ms), ...blocks);
const track = (number: number, codec: string, ...more: Buffer[]): Buffer =>
  element(
    ID.track,
    ...[element(ID.number, number), element(ID.uid, number), element(ID.type, codec.startsWith('V') ? 1 : 17)],
    ...[element(ID.codec, codec), ...more],
  );

const HEADER =
  '[Script Info]\nScriptType: v4.00+\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n';

/** A film of one picture track, 1, and text tracks from 2 on. `cued` names blocks in the index by cluster and place. */
function film(tracks: Buffer[], clusters: Buffer[], cued: [track: number, cluster: number, at: number][] = []): string {
  const info = element(ID.info, element(ID.scale, 1_000_000));
  const heads = [info, element(ID.tracks, track(1, 'V_VP9'), ...tracks)];
  const seekOf = (at: number): Buffer =>
    element(ID.seekHead, element(ID.seek, element(ID.seekId, ID.cues), element(ID.seekPosition, at)));
  const first = seekOf(0).length + heads.reduce((sum, head) => sum + head.length, 0);
  const starts = clusters.map((_, i) => clusters.slice(0, i).reduce((sum, one) => sum + one.length, first));
  const points = cued.map(([number, n, at]) =>
    element(
      ID.cuePoint,
      element(ID.cueTime, 0),
      element(
        ID.cuePositions,
        ...[element(ID.cueTrack, number), element(ID.cueCluster, starts[n] ?? 0), element(ID.cueRelative, at)],
      ),
    ),
  );
  const cues = points.length > 0 ? [element(ID.cues, ...points)] : [];
  const seek = seekOf(clusters.reduce((sum, one) => sum + one.length, first));
  const path = join(temporaryFolder('texts'), 'film.mkv');
  const segment = element(ID.segment, seek, ...heads, ...clusters, ...cues);
  writeFileSync(path, Buffer.concat([element(ID.ebml, element(ID.docType, 'matroska')), segment]));
  return path;
}

const read = async (path: string, indexes: number[], startMs = 0): Promise<Map<number, string>> =>
  matroskaTexts(path, { indexes, startMs, signal });
/** Where in a cluster's content its nth block begins, all the blocks before it being these. */
const behind = (...blocks: Buffer[]): number =>
  element(ID.timestamp, 0).length + blocks.reduce((sum, one) => sum + one.length, 0);

describe('texts of Matroska files', function () {
  this.timeout(60_000);
  const picture = element(ID.simpleBlock, block(1, 0, Buffer.alloc(20_000)));
  const plain = track(2, 'S_TEXT/UTF8');

  it('are read by their blocks, on the film’s clock, with and without an end of their own', async () => {
    const endless = element(ID.simpleBlock, block(2, 1500, 'until the next\n\nor so'));
    const clusters = [
      cluster(1000, picture, lasting(2, [0, 500], 'before the film'), endless),
      cluster(4000, lasting(2, [0, 250], Buffer.from([0x43, 0xe9])), picture),
    ];
    const texts = await read(film([plain], clusters), [1], 1600);
    expect(texts.get(1)).to.equal(
      '1\n00:00:00,900 --> 00:00:02,400\nuntil the next\nor so\n\n2\n00:00:02,400 --> 00:00:02,650\nCé\n',
    );
  });

  it('keep a style’s head and their order, and times of the container', async () => {
    const styled = track(2, 'S_TEXT/ASS', element(ID.codecPrivate, HEADER));
    const late = lasting(2, [10, 1000], '0,1,Default,,0,0,0,,{\\i1}first{\\i0}, of the file');
    const early = lasting(2, [0, 36_000_000], '1,0,Default,,0,0,0,,second');
    const texts = await read(film([styled], [cluster(1000, early, picture, late)]), [1]);
    expect(texts.get(1)).to.equal(
      `${HEADER}Dialogue: 1,00:00:01.01,00:00:02.01,Default,,0,0,0,,{\\i1}first{\\i0}, of the file\n` +
        'Dialogue: 0,00:00:01.00,10:00:01.00,Default,,0,0,0,,second\n',
    );
  });

  it('are unpacked, and read by ffmpeg where they are sealed or laced', async () => {
    const encodings = (algorithm: number, ...settings: Buffer[]): Buffer =>
      element(
        ID.encodings,
        element(ID.encoding, element(ID.compression, element(ID.compressionAlgorithm, algorithm), ...settings)),
      );
    const stripped = track(3, 'S_TEXT/UTF8', encodings(3, element(ID.compressionSettings, 'Always ')));
    const clusters = [
      cluster(
        0,
        lasting(2, [0, 1000], deflateSync('packed')),
        lasting(3, [0, 1000], 'the same'),
        lasting(4, [0, 1], 'x'),
      ),
    ];
    const tracks = [track(2, 'S_TEXT/UTF8', encodings(0)), stripped, track(4, 'S_TEXT/UTF8', encodings(1))];
    const path = film(tracks, clusters);
    const texts = await read(path, [1, 2]);
    expect([...texts.values()].map((text) => text.split('\n')[2])).to.deep.equal(['packed', 'Always the same']);
    const unsure = async (some: string, index: number) =>
      read(some, [index]).then(
        () => 'read',
        (error) => error instanceof Unsure,
      );
    expect(await unsure(path, 3)).to.equal(true);
    expect(await unsure(path, 0)).to.equal(true);
    const laced = element(ID.simpleBlock, Buffer.from([0x82, 0, 0, 0x06]), 'two');
    expect(await unsure(film([plain], [cluster(0, laced)]), 1)).to.equal(true);
  });

  it('are found by the index, and without it where the index does not have them all', async () => {
    const [one, two, three] = [
      lasting(2, [0, 500], 'one'),
      lasting(2, [600, 500], 'two'),
      lasting(2, [0, 500], 'three'),
    ];
    const clusters = [cluster(0, picture, one, two), cluster(3000, three)];
    const all: [number, number, number][] = [
      [2, 0, behind(picture)],
      [2, 0, behind(picture, one)],
      [2, 1, behind()],
    ];
    const words = async (cued: typeof all) => {
      const text = (await read(film([plain], clusters, cued), [1])).get(1) ?? '';
      return parseCues(text, 'subrip').map((cue) => `${cue.startMs} ${cue.text}`);
    };
    const expected = ['0 one', '600 two', '3000 three'];
    expect(await words(all)).to.deep.equal(expected);
    expect(await words([])).to.deep.equal(expected);
    expect(await words(all.filter((_, i) => i !== 1))).to.deep.equal(expected);
    expect(await words([[2, 0, 3], ...all])).to.deep.equal(expected);
  });

  it('are not looked for in the pictures: of a large film next to nothing is read', async () => {
    const folder = temporaryFolder('large');
    const [words, path] = [join(folder, 'words.srt'), join(folder, 'film.mkv')];
    writeFileSync(words, '1\n00:00:01,000 --> 00:00:09,000\nEarly\n\n2\n00:00:50,000 --> 00:00:55,000\nLate\n');
    const picture = ['-f', 'lavfi', '-i', 'color=s=640x360:r=10:d=60'];
    await tool('ffmpeg', ['-v', 'error', ...picture, '-i', words, '-c:v', 'rawvideo', '-c:s', 'srt', path]);
    const bytesRead = (): number => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
    const before = bytesRead();
    const text = (await read(path, [1])).get(1) ?? '';
    expect(bytesRead() - before).to.be.lessThan(5_000_000); // of 200 MB
    expect(parseCues(text, 'subrip').map((cue) => cue.text)).to.deep.equal(['Early', 'Late']);
  });

  it('are stored once, of other containers by ffmpeg', async () => {
    const folder = temporaryFolder('stored');
    const [words, path] = [join(folder, 'words.srt'), join(folder, 'film.mp4')];
    writeFileSync(words, '1\n00:00:01,000 --> 00:00:09,000\nHello\n');
    const picture = ['-f', 'lavfi', '-i', 'color=s=64x36:r=10:d=3'];
    await tool('ffmpeg', ['-v', 'error', ...picture, '-i', words, '-c:v', 'libx264', '-c:s', 'mov_text', path]);
    const objects = connectObjects(`file://${join(folder, 'objects')}`);
    await objects.prepare(['foyer-subtitles']);
    const source = { fileId: 'f', version: '1', container: 'mp4', startMs: 0, file: path };
    const take = () => takeOutTexts(source, [{ index: 1, format: 'mov_text' }], { objects, signal });
    expect(await take()).to.deep.equal([1]);
    expect(await take()).to.deep.equal([]);
    const stored = await objects.get('foyer-subtitles', 'tracks/f/1/1.txt');
    const text = Buffer.concat((await stored.toArray()) as Buffer[]).toString();
    expect(parseCues(text, 'mov_text')).to.deep.equal([{ startMs: 1000, endMs: 9000, text: 'Hello' }]);
  });

  it('bring their fonts, and nothing else that is attached', async () => {
    const attached = (name: string, data: Buffer): Buffer =>
      element(
        ID.attachedFile,
        ...[element(ID.fileName, name), element(ID.fileMime, 'font/ttf'), element(ID.fileData, data)],
      );
    const files = [Buffer.from('OTTOfont'), Buffer.from('#!/bin/sh'), Buffer.from([0, 1, 0, 0, 7])];
    const path = join(temporaryFolder('fonts'), 'film.mkv');
    const attachments = element(ID.attachments, ...files.map((data, i) => attached(`${i}.ttf`, data)));
    const segment = element(ID.segment, attachments, cluster(0, picture));
    writeFileSync(path, Buffer.concat([element(ID.ebml, element(ID.docType, 'matroska')), segment]));
    const fonts = await Array.fromAsync(matroskaFonts(path));
    expect(fonts.map(({ place, mime, bytes }) => [place, mime, bytes])).to.deep.equal([
      [0, 'font/otf', files[0]],
      [2, 'font/ttf', files[2]],
    ]);
  });
});
