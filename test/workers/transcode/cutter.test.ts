import { join } from 'node:path';
import { expect } from 'chai';
import { type StreamPlan, segmentStartMs } from '#areas/streaming/public.ts';
import { type Looked, look, planFor } from '#support/hls-render.ts';
import { commandOf } from '#workers/transcode/command.ts';
import { cutterFor } from '#workers/transcode/cutter.ts';
import { SOFTWARE } from '#workers/transcode/encoders.ts';
import { ffmpegArguments, startFfmpeg } from '#workers/transcode/ffmpeg.ts';
import { boxHead } from '#workers/transcode/mp4/boxes.ts';
import { FragmentReader } from '#workers/transcode/mp4/fragments.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

/** Where the heads of fragments end. */
function headsOf(stream: Buffer): number[] {
  const ends: number[] = [];
  for (let at = 0; at < stream.length; ) {
    const size = boxHead(stream, at)?.size ?? stream.length;
    at += size;
    if (stream.toString('latin1', at - size + 4, at - size + 8) === 'moof') ends.push(at);
  }
  return ends;
}

describe('cutter', function () {
  this.timeout(600_000);
  let film: Looked;
  let plan: StreamPlan;
  let stream: Buffer;
  before(async () => {
    film = await look(join((await fixtures()).made, 'h264-vgop.mp4'));
    plan = planFor(film, { mode: 'copy' });
    const run = { plan, from: 0, video: 'v0', file: film.file, keyframes: film.source.keyframes };
    const args = ffmpegArguments(commandOf({ ...run, encoder: SOFTWARE, threads: 1 }));
    const child = await startFfmpeg(args, { outputs: 1, gpu: false });
    stream = Buffer.concat((await child.outputs[0]?.toArray()) as Buffer[]);
  });

  it('gives a copied segment with the head of the next, however the stream comes in pieces', () => {
    const groups = film.source.keyframes.filter((at) => at < segmentStartMs(plan, 1)).length;
    const end = headsOf(stream)[groups] ?? 0;
    const cut = (pieceBytes: number): Map<number, Buffer> => {
      const given = new Map<number, Buffer>();
      const events = { onInit: () => undefined, onSegment: (n: number, bytes: Buffer) => void given.set(n, bytes) };
      const cutter = cutterFor({ plan, rendition: 'v0', from: 0 }, events);
      for (let at = 0; at < end; at += pieceBytes) {
        expect([...given.keys()]).to.deep.equal([]);
        cutter.push(stream.subarray(at, Math.min(at + pieceBytes, end)));
      }
      return given;
    };
    const whole = cut(end);
    expect([...whole.keys()]).to.deep.equal([0]);
    expect(cut(997)).to.deep.equal(whole);
  });

  it('refuses samples that lie outside their box', () => {
    const damaged = Buffer.from(stream);
    damaged.writeUInt32BE(100, headsOf(stream)[0]);
    const reader = new FragmentReader({ onInit: () => undefined, onSamples: () => undefined });
    expect(() => reader.push(damaged)).to.throw('damaged stream');
  });
});
