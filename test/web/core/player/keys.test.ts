import { expect } from 'chai';
import { type Command, commandOf, type Pressed } from '../../../../web/src/core/player/keys.ts';

const SKIPS = { backMs: 10_000, forwardMs: 30_000 };
const press = (key: string, more: Partial<Pressed> = {}): Command | undefined =>
  commandOf({ key, shiftKey: false, ctrlKey: false, altKey: false, metaKey: false, ...more }, SKIPS);

describe('the keys of the player', () => {
  it('seeks as far as the profile prefers', () => {
    expect(press('ArrowLeft')).to.deep.equal({ do: 'seekBy', by: -10_000 });
    expect(press('ArrowRight')).to.deep.equal({ do: 'seekBy', by: 30_000 });
    expect(press('ArrowRight', { shiftKey: true })).to.deep.equal({ do: 'seekBy', by: 1000 });
  });

  it('takes letters with Caps Lock, and another command with Shift', () => {
    expect(press('C')).to.deep.equal({ do: 'captions' });
    expect(press('C', { shiftKey: true })).to.deep.equal({ do: 'nextCaptions' });
    expect(press('K', { shiftKey: true })).to.equal(undefined);
    expect(press('P', { shiftKey: true })).to.deep.equal({ do: 'previous' });
    expect(press('p'), 'alone').to.equal(undefined);
  });

  it('takes signs with and without Shift, as keyboards differ', () => {
    for (const shiftKey of [true, false]) {
      expect(press('>', { shiftKey })).to.deep.equal({ do: 'rateBy', by: 0.25 });
      expect(press('?', { shiftKey })).to.deep.equal({ do: 'help' });
      expect(press('[', { shiftKey })).to.deep.equal({ do: 'offsetBy', by: -50 });
    }
  });

  it('leads to tenths', () => {
    expect(press('0')).to.deep.equal({ do: 'seekTo', share: 0 });
    expect(press('7')).to.deep.equal({ do: 'seekTo', share: 0.7 });
  });

  it('leaves the shortcuts of the browser alone', () => {
    for (const more of [{ ctrlKey: true }, { altKey: true }, { metaKey: true }])
      for (const key of ['f', 'l', ' ', 'ArrowLeft', '0']) expect(press(key, more)).to.equal(undefined);
    expect(press('F5')).to.equal(undefined);
  });
});
