// Four ways to use the app: a mouse, a keyboard, the arrows of a remote, a finger. Each counts its inputs; a text that is
// typed into a field is one of them, as the name that a person has typed often.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { eventually } from '#support/stores.ts';

export type HandName = 'mouse' | 'keyboard' | 'remote' | 'touch';
export const HANDS: readonly HandName[] = ['mouse', 'keyboard', 'remote', 'touch'];

/** The browser context that suits the hand. */
export const windowOf = (name: HandName): BrowserContextOptions =>
  name === 'touch'
    ? { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
    : { viewport: { width: 1280, height: 720 } };

/** What a keyboard reaches by Tab; it goes through the rest of the app by arrows. */
const FORM = /name=|submit|Begin/;

/** So many presses lead to any place of a page. */
const MOST_STEPS = 15;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const FOCUSED = `(() => {
  const one = document.activeElement;
  const { x, y, width, height } = one.getBoundingClientRect();
  return { free: one.matches('body, main, h1'), box: { x, y, width, height } };
})()`;

interface Place {
  /** The target has the focus. */
  there: boolean;
  /** Nothing that is used has the focus. */
  free: boolean;
  /** From the middle of the focused element to that of the target. */
  across: number;
  down: number;
}

export class Hand {
  inputs = 0;
  readonly name: HandName;
  #page: Page | undefined;

  constructor(name: HandName) {
    this.name = name;
  }

  /** Goes on in another page. */
  take(page: Page): void {
    this.#page = page;
  }

  get #at(): Page {
    if (!this.#page) throw new Error('it has no page');
    return this.#page;
  }

  get usesKeys(): boolean {
    return this.name === 'keyboard' || this.name === 'remote';
  }

  async key(key: string): Promise<void> {
    this.inputs += 1;
    await this.#at.keyboard.press(key);
  }

  /** Presses the element as soon as it is there. */
  async press(selector: string): Promise<void> {
    await this.#at.waitForSelector(selector);
    if (this.usesKeys) {
      await this.#reach(selector);
      await this.key('Enter');
      return;
    }
    this.inputs += 1;
    await (this.name === 'touch' ? this.#at.tap(selector) : this.#at.click(selector));
  }

  async fill(selector: string, text: string): Promise<void> {
    await this.#at.waitForSelector(selector);
    if (!(await this.#placeOf(selector)).there) await (this.usesKeys ? this.#reach(selector) : this.press(selector));
    this.inputs += 1;
    await this.#at.keyboard.type(text);
  }

  /** Presses at a share of the width and height of the element; for pointers. */
  async pressAt(selector: string, share: { x: number; y: number }): Promise<void> {
    const box = await this.#at.locator(selector).boundingBox();
    if (!box) throw new Error(`${selector} is not shown`);
    const [x, y] = [box.x + box.width * share.x, box.y + box.height * share.y];
    this.inputs += 1;
    await (this.name === 'touch' ? this.#at.touchscreen.tap(x, y) : this.#at.mouse.click(x, y));
  }

  /** Moves a mouse over the page, which shows the controls of the player. */
  async move(): Promise<void> {
    this.inputs += 1;
    await this.#at.mouse.move(400, 300);
    await this.#at.mouse.move(460, 340);
  }

  async #reach(selector: string): Promise<void> {
    for (let steps = 0; steps <= MOST_STEPS; steps += 1) {
      const place = await this.#placeOf(selector);
      if (place.there) return;
      const usesTab = this.name === 'keyboard' && FORM.test(selector);
      await this.key(usesTab ? 'Tab' : towards(place));
      await this.#settled();
    }
    throw new Error(`${selector} is not reached in ${MOST_STEPS} steps`);
  }

  /** A smooth scroll is over. */
  async #settled(): Promise<void> {
    const at = (): Promise<number> => this.#at.evaluate<number>('scrollY');
    let before = await at();
    await eventually(async () => {
      const now = await at();
      const isStill = now === before;
      before = now;
      return isStill;
    });
  }

  async #placeOf(selector: string): Promise<Place> {
    const to = await this.#at.locator(selector).first().boundingBox();
    if (!to) throw new Error(`${selector} is not shown`);
    const { free, box: from } = await this.#at.evaluate<{ free: boolean; box: Box }>(FOCUSED);
    const middle = ({ x, y, width, height }: Box) => [x + width / 2, y + height / 2] as const;
    const [[x, y], [toX, toY]] = [middle(from), middle(to)];
    const isOneRow = Math.abs(toY - y) < Math.max(from.height, to.height) / 2;
    return {
      there: !free && Math.abs(toX - x) < 1 && Math.abs(toY - y) < 1,
      free,
      across: isOneRow ? toX - x : 0,
      down: isOneRow ? 0 : toY - y,
    };
  }
}

function towards({ free, across, down }: Place): string {
  if (free || down > 0) return 'ArrowDown';
  if (down < 0) return 'ArrowUp';
  return across > 0 ? 'ArrowRight' : 'ArrowLeft';
}
