// Parts of several receptions of one channel, each with a clock of its own, become one film.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryFolder } from '#support/stores.ts';
import { broadcast } from '#support/tuner-box.ts';
import { PartClock } from '#workers/live/finish/part-clock.ts';
import { LiveCutter, type Piece } from '#workers/tuner/streams/cutter.ts';

const PACKET = 188;

/** The pieces of a reception that begins with a packet. */
function received(from: number): Piece[] {
  const pieces: Piece[] = [];
  const cutter = new LiveCutter((piece) => pieces.push(piece));
  cutter.push(broadcast('h264-mp2').subarray(from * PACKET));
  cutter.end();
  return pieces;
}

/** Seconds between the packets of a stream, in the order of presentation. */
function stepsOf(path: string, stream: string): number[] {
  const shown = ['-show_entries', 'packet=pts_time', '-of', 'csv=p=0', path];
  const lines = execFileSync('ffprobe', ['-v', 'error', '-select_streams', stream, ...shown])
    .toString()
    .split('\n');
  const seconds = lines.flatMap((line) => (line ? Number.parseFloat(line) : [])).sort((a, b) => a - b);
  return seconds.slice(1).map((at, n) => at - (seconds[n] ?? 0));
}

describe('the clock of the parts of a recording', () => {
  it('goes on at each interruption for pictures and sound', () => {
    const path = join(temporaryFolder('part-clock'), 'film.ts');
    const clock = new PartClock();
    const parts = [0, 300, 0, 777].flatMap((from, discontinuity) =>
      received(from).map(({ bytes, durationMs }) => {
        clock.move(bytes, { durationMs, discontinuity });
        return bytes;
      }),
    );
    writeFileSync(path, Buffer.concat(parts));
    const pictures = stepsOf(path, 'v:0');
    expect(pictures.length).to.be.above(4 * 150);
    for (const step of pictures) expect(step).to.be.closeTo(0.04, 0.005);
    for (const step of stepsOf(path, 'a:0')) expect(step).to.be.below(0.6);
  });

  it('is that of the broadcast where no part is missing, byte for byte', () => {
    const clock = new PartClock();
    for (const { bytes, durationMs } of received(0)) {
      const before = Buffer.from(bytes);
      clock.move(bytes, { durationMs, discontinuity: 7 });
      expect(bytes.equals(before)).to.equal(true);
    }
  });

  it('leaves bytes alone that are no transport stream', () => {
    const noise = Buffer.alloc(1000, 7);
    new PartClock().move(noise, { durationMs: 1000, discontinuity: 0 });
    expect(noise.equals(Buffer.alloc(1000, 7))).to.equal(true);
  });
});
