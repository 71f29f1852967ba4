// Shapes of broadcasts through the copy and the cutter of a tuner, whose clock starts over in the middle: after 26.5 hours.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CaptionScript, packet708, window708, withCaptions } from '#support/captions.ts';
import { temporaryFolder } from '#support/stores.ts';
import { LiveCaptions } from '#workers/tuner/streams/captions.ts';
import { StreamCopy } from '#workers/tuner/streams/copying.ts';
import { LiveCutter, type Piece } from '#workers/tuner/streams/cutter.ts';

const SECONDS = 7;
const WRAP = 2 ** 33;
/** Seconds of the broadcast before its clock starts over. */
const BEFORE = 3.5;
/** Sound that comes before the first picture. */
const MOST_LEFT_OUT = { v: 0, a: 12 };

interface Shape {
  video?: { source: string; encoder: string };
  sound: string;
}

const SHAPES: Record<'interlaced' | 'fast' | 'radio', Shape> = {
  interlaced: {
    video: {
      source: 'testsrc2=size=1920x1080:rate=30000/1001',
      encoder: 'libx264 -preset ultrafast -pix_fmt yuv420p -flags +ilme+ildct -vf setfield=tff -g 15 -bf 2',
    },
    sound: 'ac3 -ac 6 -b:a 384k',
  },
  fast: {
    video: {
      source: 'testsrc2=size=1280x720:rate=50',
      encoder: 'libx265 -preset ultrafast -pix_fmt yuv420p -x265-params keyint=50:log-level=none',
    },
    sound: 'mp2 -ac 2 -b:a 192k',
  },
  radio: { sound: 'mp2 -ac 2 -b:a 192k' },
};

describe('shapes of broadcasts', function () {
  this.timeout(180_000);
  const folder = temporaryFolder('shapes');
  const ffmpeg = (...args: string[]): void => void execFileSync('ffmpeg', ['-v', 'error', '-y', ...args]);

  function made(name: keyof typeof SHAPES): Buffer {
    const { video, sound } = SHAPES[name];
    const path = join(folder, `${name}.ts`);
    const pictures = video ? ['-f', 'lavfi', '-i', `${video.source}:duration=${SECONDS}`] : [];
    const tone = ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${SECONDS}`];
    const encoders = `${video ? `-c:v ${video.encoder} ` : ''}-c:a ${sound}`;
    ffmpeg(...pictures, ...tone, ...encoders.split(' '), '-f', 'mpegts', path);
    return readFileSync(path);
  }

  /** The same with a clock that starts over. */
  function late(bytes: Buffer): Buffer {
    const [plain, moved] = [join(folder, 'plain.ts'), join(folder, 'moved.ts')];
    writeFileSync(plain, bytes);
    const offset = String(WRAP / 90_000 - BEFORE);
    ffmpeg('-copyts', '-i', plain, '-map', '0', '-c', 'copy', '-output_ts_offset', offset, '-f', 'mpegts', moved);
    return readFileSync(moved);
  }

  /** Pieces of the broadcast as a tuner makes them: the clock of its copy begins at 0. */
  async function copied(bytes: Buffer): Promise<Piece[]> {
    const copy = new StreamCopy(async () => []);
    await copy.start();
    const written = (async () => {
      for (let at = 0; at < bytes.length; at += 50_000)
        await copy.write(bytes.subarray(at, at + 50_000), AbortSignal.timeout(60_000));
      copy.end();
    })();
    const chunks: Buffer[] = [];
    for await (const chunk of copy.read()) chunks.push(chunk);
    await written;
    return cut(chunks);
  }

  function cut(chunks: readonly Buffer[]): Piece[] {
    const pieces: Piece[] = [];
    const cutter = new LiveCutter((piece) => pieces.push(piece), { captions: new LiveCaptions() });
    for (const chunk of chunks) cutter.push(chunk);
    cutter.end();
    return pieces;
  }

  /** Times of the packets in seconds from the first one, over the wrap of the clock. */
  function timesOf(bytes: Buffer, stream: 'v' | 'a'): number[] {
    const path = join(folder, 'packets.ts');
    writeFileSync(path, bytes);
    const shown = ['-select_streams', `${stream}:0`, '-show_entries', 'packet=pts', '-of', 'csv=p=0', path];
    const lines = execFileSync('ffprobe', ['-v', 'error', '-correct_ts_overflow', '0', ...shown]).toString();
    const ticks = lines.split('\n').map(Number.parseFloat).filter(Number.isFinite);
    return ticks.map((one) => (one < WRAP / 2 ? one + WRAP : one) / 90_000).sort((a, b) => a - b);
  }

  /** One piece follows the other, each packet of the broadcast is in one of them, and sound and pictures are as far apart. */
  function requireWhole(bytes: Buffer, pieces: Piece[], streams: ('v' | 'a')[]): void {
    for (const [i, { atMs, durationMs }] of pieces.slice(0, -1).entries())
      expect(pieces[i + 1]?.atMs, `piece ${i + 1}`).to.be.closeTo(atMs + durationMs, 1);
    const { atMs: lastMs = 0, durationMs: lengthMs = 0 } = pieces.at(-1) ?? {};
    expect(lastMs + lengthMs, 'the end of the last piece').to.be.closeTo(SECONDS * 1000, 60);
    const whole = Buffer.concat(pieces.map((piece) => piece.bytes));
    const apart: number[] = [];
    for (const stream of streams) {
      const [sent, found] = [timesOf(bytes, stream), timesOf(whole, stream)];
      expect(found.length, `${stream}: packets`).to.be.within(sent.length - MOST_LEFT_OUT[stream], sent.length);
      const moved = (found.at(-1) ?? 0) - (sent.at(-1) ?? 0);
      const off = found.toReversed().map((time, n) => Math.abs(time - moved - (sent.at(-1 - n) ?? 0)));
      expect(Math.max(...off), `${stream}: each packet once`).to.be.below(0.001);
      apart.push(moved);
    }
    expect(Math.abs((apart[0] ?? 0) - (apart.at(-1) ?? 0)), 'sound and pictures').to.be.below(0.04);
  }

  const texts = new Map([
    ['Before', 2000],
    ['After', 5000],
  ]);

  it('are 1080i at 29.97 with sound in six channels and captions of CEA-708', async () => {
    const script = new CaptionScript();
    for (const [n, [text, atMs]] of [...texts].entries()) script.digital(atMs, packet708(1, n, window708(text)));
    const digital = (atMs: number) => script.at(atMs).filter(([type]) => type > 1); // no fields of CEA-608
    const bytes = late(withCaptions(made('interlaced'), digital));
    for (const pieces of [await copied(bytes), cut([bytes])]) {
      requireWhole(bytes, pieces, ['v', 'a']);
      requireCaptions(pieces);
      const path = join(folder, 'piece.ts');
      writeFileSync(path, pieces.at(-1)?.bytes ?? Buffer.alloc(0));
      const shown = ['-show_entries', 'stream=codec_name,height,field_order,channels', '-of', 'csv=p=0', path];
      const streams = execFileSync('ffprobe', ['-v', 'error', ...shown]).toString();
      expect(streams)
        .to.match(/h264,1080,t[tb]/)
        .and.match(/ac3,6/);
    }
  });

  function requireCaptions(pieces: Piece[]): void {
    const cues = pieces.flatMap(({ atMs, captions }) =>
      (captions?.services ?? []).flatMap(({ id, cues: all }) =>
        all.map(({ text, startMs }) => ({ id, text, startMs: atMs + startMs })),
      ),
    );
    for (const [text, atMs] of texts) {
      const cue = cues.find((one) => one.text === text);
      expect(cue?.id, text).to.equal('service1');
      expect(cue?.startMs, text).to.be.closeTo(atMs, 300);
    }
  }

  it('are 720p at 50 in HEVC', async () => {
    const bytes = late(made('fast'));
    for (const pieces of [await copied(bytes), cut([bytes])]) requireWhole(bytes, pieces, ['v', 'a']);
  });

  it('are radio, in pieces of a second at first', async () => {
    const bytes = late(made('radio'));
    for (const pieces of [await copied(bytes), cut([bytes])]) {
      expect(pieces.slice(0, 4).map(({ durationMs }) => Math.round(durationMs / 1000))).to.deep.equal([1, 1, 1, 1]);
      requireWhole(bytes, pieces, ['a']);
    }
  });
});
