import { expect } from 'chai';
import { readCues } from '#areas/streaming/text/cue-reader.ts';
import { substationOf } from '#areas/subtitles/writers.ts';
import { AsideFailed, aside } from '#platform/aside.ts';

const here = new URL('./aside-work.ts', import.meta.url);

describe('work aside', () => {
  it('is done in a thread, and answered', async () => {
    const made = await aside<{ sum: number; thread: number }>(
      { module: here, name: 'sum', limitMs: 20_000 },
      [1, 2, 3],
    );
    expect(made.sum).to.equal(6);
    expect(made.thread).to.be.greaterThan(0);
  });

  it('is ended when it takes too long, fails or ends by itself, and makes place for others', async () => {
    const failed = (name: string, limitMs = 20_000): Promise<unknown> =>
      aside({ module: here, name, limitMs }).catch((error: unknown) => error);
    for (let i = 0; i < 3; i += 1) expect(await failed('endless', 500)).to.be.instanceOf(AsideFailed);
    expect(await failed('failing')).to.be.instanceOf(AsideFailed);
    expect(await failed('leaving')).to.be.instanceOf(AsideFailed);
    expect((await aside<{ sum: number }>({ module: here, name: 'sum', limitMs: 20_000 }, [4])).sum).to.equal(4);
  });

  it('waits for its turn, fifty at most', async () => {
    const all = Array.from({ length: 60 }, () =>
      aside<{ sum: number }>({ module: here, name: 'sum', limitMs: 60_000 }, [1]).then(
        () => 'done',
        () => 'refused',
      ),
    );
    const ends = await Promise.all(all);
    expect(ends.filter((end) => end === 'done')).to.have.length(52);
  });

  it('reads subtitles that are large, as it reads small ones', async () => {
    const block = (i: number): string =>
      `${i}\n00:00:${String(i % 60).padStart(2, '0')},000 --> 00:01:30,000\nOne {\\an8}line\n\n`;
    const text = Array.from({ length: 10_000 }, (_, i) => block(i)).join('');
    const cues = await readCues(Buffer.from(text), { format: 'subrip' });
    expect(cues).to.have.length(10_000);
    expect(cues[0]).to.deep.equal({ startMs: 0, endMs: 90_000, text: 'One line', settings: 'line:0' });
  });

  it('moves a large styled subtitle, as it moves a small one', async () => {
    const line = 'Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,Hello\n';
    for (const times of [1, 10_000]) {
      const bytes = Buffer.from(`[Script Info]\n[Events]\n${line.repeat(times)}`);
      const moved = await substationOf({
        bytes,
        language: null,
        format: 'ass',
        timing: { offsetMs: 1000, rate: 1, pieces: [] },
      });
      expect(moved.split('\n').slice(2, -1)).to.deep.equal(
        Array<string>(times).fill('Dialogue: 0,0:00:02.00,0:00:03.00,Default,,0,0,0,,Hello'),
      );
    }
  });
});
