import { expect } from 'chai';
import type { PlaybackStart } from '../../../../api/client/index.ts';
import { Line } from '../../../../web/src/core/player/line.ts';
import { type Notice, Store } from '../../../../web/src/core/player/state.ts';

describe('a slow line', () => {
  let clock: number;
  let chosen: string[];
  let store: Store;
  let line: Line;

  const step = (quality: string, bitrate: number) => ({ quality, bitrate, height: 480, method: 'transcode' });
  const alternatives = [step('720p', 3_000_000), step('480p', 1_200_000), step('360p', 700_000)];
  const plays = (bitrate: number, isAuto: boolean): void =>
    store.patch({ isAuto, start: { session: { decision: { bitrate, alternatives } } } as unknown as PlaybackStart });
  /** Stops at these seconds; returns the notice. */
  const stops = async (...seconds: number[]): Promise<Notice['kind'] | undefined> => {
    for (const second of seconds) {
      clock = second * 1000;
      await line.starved();
    }
    return store.state.notice?.kind;
  };

  beforeEach(() => {
    chosen = [];
    store = new Store(() => undefined);
    line = new Line({ store, quality: async (id) => void chosen.push(id), now: () => clock });
  });

  it('takes the next lower quality after two stops within 30 seconds, and after each two more', async () => {
    plays(3_000_000, true);
    expect(await stops(0, 31)).to.equal(undefined);
    expect(await stops(60)).to.equal('loweredSlow');
    expect(chosen).to.deep.equal(['480p']);
    plays(1_200_000, true);
    await stops(70);
    expect(chosen).to.deep.equal(['480p']);
    await stops(80);
    expect(chosen).to.deep.equal(['480p', '360p']);
  });

  it('leaves a quality that the person chose, and offers a lower one', async () => {
    plays(3_000_000, false);
    expect(await stops(0, 10)).to.equal('slowLine');
    expect(chosen).to.deep.equal([]);
  });

  it('has no help below the lowest quality', async () => {
    plays(700_000, true);
    expect(await stops(0, 10)).to.equal(undefined);
    expect(chosen).to.deep.equal([]);
  });
});
