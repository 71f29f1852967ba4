// The captions of a recording are joined with bounded memory.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CaptionCue, SegmentCaptions } from '#platform/live/captions.ts';
import { parseCues } from '#platform/subtitles/cues.ts';
import { temporaryFolder } from '#support/stores.ts';
import { CaptionFiles } from '#workers/live/finish/caption-files.ts';

const HEAP_MB = 48;
const MIB = 1 << 20;

function joined(count: number, bytes: number): { files: number; bytes: number; reading: number } {
  const args = [`--max-old-space-size=${HEAP_MB}`, 'test/support/hostile-captions.ts'];
  const shown = execFileSync(process.execPath, [
    ...args,
    temporaryFolder('hostile-captions'),
    String(count),
    String(bytes),
  ]);
  return JSON.parse(shown.toString()) as ReturnType<typeof joined>;
}

const captions = (ticks: number, cues: CaptionCue[]): SegmentCaptions => ({
  ticks,
  services: [{ id: 'cc1', kind: 'cea608', language: 'eng', hearingImpaired: true, cues }],
});

describe('the captions of a recording', function () {
  this.timeout(120_000);

  it('are read eight parts ahead at most: a day of them takes no more memory than an hour', () => {
    const day = joined(21_600, 2400);
    expect(day).to.include({ files: 1, reading: 8 });
    expect(day.bytes).to.be.within(25 * MIB, 33 * MIB);
  });

  it('end where a broadcast has more texts than ffmpeg should read', () => {
    const hostile = joined(2000, 200_000);
    expect(hostile).to.include({ files: 1, reading: 8 });
    expect(hostile.bytes).to.be.within(31 * MIB, 33 * MIB);
  });

  it('go on over two parts, and follow the clock of the broadcast', async () => {
    const folder = temporaryFolder('joined-captions');
    const files = new CaptionFiles(folder);
    const first = { startMs: 1000, endMs: 4000, text: 'ONE' };
    await files.add({ durationMs: 4000, discontinuity: 0 }, captions(90_000, [first]));
    await files.add(
      { durationMs: 4000, discontinuity: 0 },
      captions(450_000, [{ startMs: 0, endMs: 500, text: 'ONE' }]),
    );
    await files.add({ durationMs: 4000, discontinuity: 0 }, undefined);
    const late = captions(450_000 + 8000 * 90 + 180_000, [{ startMs: 100, endMs: 900, text: 'TWO' }]);
    await files.add({ durationMs: 4000, discontinuity: 0 }, late); // two seconds are missing
    // After an interruption its clock says nothing, however near it is.
    const other = captions(450_000 + 14_500 * 90, [{ startMs: 0, endMs: 500, text: 'THREE' }]);
    await files.add({ durationMs: 4000, discontinuity: 1 }, other);
    expect((await files.end()).map(({ service }) => service.id)).to.deep.equal(['cc1']);
    const cues = parseCues(readFileSync(join(folder, '0.srt'), 'utf8'), 'srt');
    expect(cues.map(({ startMs, endMs, text }) => [startMs, endMs, text])).to.deep.equal([
      [1000, 4500, 'ONE'],
      [14_100, 14_900, 'TWO'],
      [18_000, 18_500, 'THREE'],
    ]);
  });
});
