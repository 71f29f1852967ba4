import { expect } from 'chai';
import { listen } from '../../../../web/src/features/player/gestures.ts';
import { bitRateText } from '../../../../web/src/features/player/time.ts';

class Surface extends EventTarget {
  clientWidth = 1000;
}

describe('pointers on the picture', () => {
  let surface: Surface;
  let done: string[];
  let stop: () => void;

  const send = (name: string, x: number, more: object = {}): void => {
    const pointer = { pointerId: 1, pointerType: 'touch', button: 0, clientX: x, clientY: 100, ...more };
    surface.dispatchEvent(Object.assign(new Event(name), pointer));
  };

  beforeEach(() => {
    surface = new Surface();
    done = [];
    stop = listen(surface, {
      press: (isTouch) => done.push(`press ${isTouch}`),
      twice: (_isTouch, share) => done.push(`twice ${share}`),
      drag: (share, isEnd) => done.push(`${isEnd ? 'end' : 'drag'} ${share}`),
      cancel: () => done.push('cancel'),
      pinch: (isApart) => done.push(isApart ? 'apart' : 'together'),
    });
  });
  afterEach(() => stop());

  it('follow a finger from where it began to where it leaves', () => {
    send('pointerdown', 100);
    send('pointermove', 200);
    send('pointerup', 300);
    expect(done).to.deep.equal(['drag 0.1', 'end 0.2']);
  });

  it('cancel a dragging that the browser takes over or that a second finger joins', () => {
    for (const ends of [() => send('pointercancel', 200), () => send('pointerdown', 700, { pointerId: 2 })]) {
      done = [];
      send('pointerdown', 100);
      send('pointermove', 200);
      ends();
      send('pointermove', 250);
      expect(done).to.deep.equal(['drag 0.1', 'cancel']);
      send('pointercancel', 0);
    }
  });

  it('of two fingers fill the screen once when they go apart, and nothing else follows until both have left', () => {
    send('pointerdown', 400);
    send('pointerdown', 600, { pointerId: 2 });
    for (const x of [620, 700, 800]) send('pointermove', x, { pointerId: 2 });
    send('pointermove', 500, { pointerId: 2 });
    send('pointerup', 500, { pointerId: 2 });
    send('pointermove', 100);
    send('pointerup', 100);
    expect(done).to.deep.equal(['apart']);
    send('pointerdown', 100);
    send('pointerdown', 500, { pointerId: 2 });
    send('pointermove', 300, { pointerId: 2 });
    send('pointerup', 300, { pointerId: 2 });
    send('pointerup', 100);
    send('pointerdown', 100);
    send('pointermove', 200);
    send('pointerup', 300);
    expect(done).to.deep.equal(['apart', 'together', 'drag 0.1', 'end 0.2']);
  });

  it('cancel nothing that has not begun to drag', () => {
    send('pointerdown', 100);
    send('pointercancel', 100);
    expect(done).to.deep.equal([]);
  });
});

describe('a bit rate', () => {
  it('is never 0 for a low one', () => {
    const texts = [48_000, 999_400, 999_600, 1_000_000, 8_240_000].map((rate) => bitRateText(rate, 'en'));
    expect(texts).to.deep.equal(['48 kb/s', '999 kb/s', '1 Mb/s', '1 Mb/s', '8.2 Mb/s']);
  });
});
