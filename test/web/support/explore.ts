// Presses everything on the pages of the app that a person could press, and collects what the server refused.
import type { Page, Request, Response } from 'playwright-core';

/** A control as a person knows it. */
interface Control {
  /** Where it is in the page and what it is called; the same after the page is loaded again. */
  key: string;
  /** The place without the name: rows of a list share it. */
  place: string;
  /** Part of every page, such as the navigation. */
  isShell: boolean;
}

/** Of the controls at one place, such as the rows of a list or the entries of a menu. */
const MOST_AT_A_PLACE = 12;
/** At one place and of one name but for its numbers, such as the ten ratings. */
const MOST_OF_A_NAME = 2;
/** Of a page, so that a test ends. */
const MOST_PRESSES = 150;
/** A request that waits for a change may go on for longer. */
const MOST_WAIT_MS = 2000;
const KEYS = ['w', 'f', 'm', 'Escape', 'x', 'Escape', 'v', 'v', '?', 'Escape'];

/** Marks each control that is visible and enabled, and names it. Links are pages, and are visited as such. */
const CONTROLS = `(() => {
  const wanted = 'button, [role=menuitem], [role=menuitemradio], [role=tab], input[type=checkbox], input[type=radio], summary, [role=slider]';
  const controls = [];
  const seen = new Map();
  const top = document.activeElement?.closest(':modal'); // another one is covered by it
  for (const one of document.querySelectorAll(wanted)) {
    if (one.disabled || one.closest('[inert], fieldset[disabled]') || one.matches('a[href]')) continue;
    const dialog = one.closest(':modal');
    if (dialog && top && dialog !== top) continue;
    const { width, height } = one.getBoundingClientRect();
    if (!one.checkVisibility({ checkOpacity: false, checkVisibilityCSS: true }) || width === 0 || height === 0) continue;
    const place = [];
    for (let at = one; at && at !== document.body; at = at.parentElement) place.unshift(at.localName);
    const name = (one.ariaLabel || one.textContent || one.value || '').replace(/\\s+/g, ' ').replace(/[0-9:]+/g, '#').trim();
    const key = place.join('>') + '|' + name;
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    if (count > ${MOST_OF_A_NAME}) continue;
    one.dataset.explored = key + '|' + count;
    const isShell = !one.closest('main, dialog, [role=dialog], [role=menu]') && Boolean(document.querySelector('main'));
    controls.push({ key: key + '|' + count, place: place.join('>'), isShell });
  }
  return controls;
})()`;

export interface Refused {
  status: number;
  request: string;
  /** The page and the control that was pressed last. */
  after: string;
}

/** Follows the page's requests. Controls whose path, place and name (`/me html>body>button|Save|1`) match `never` are not pressed. */
export class Explorer {
  readonly refused: Refused[] = [];
  readonly visited: string[] = [];
  presses = 0;
  readonly #page: Page;
  readonly #never: RegExp;
  readonly #open = new Set<Request>();
  /** Controls of the shell that were pressed on any page. */
  readonly #shell = new Set<string>();
  #after = '';

  constructor(page: Page, never: RegExp) {
    this.#page = page;
    this.#never = never;
    page.on('response', (response) => this.#judge(response));
    page.on('request', (request) => {
      const isCall = ['fetch', 'script'].includes(request.resourceType());
      if (isCall && !/\/events$/.test(request.url())) this.#open.add(request);
    });
    for (const end of ['requestfinished', 'requestfailed'] as const)
      page.on(end as 'requestfinished', (request) => this.#open.delete(request));
  }

  /** Visits the pages that links lead to, from `paths` on; of pages of one kind as many as `most` says. */
  async walk(paths: readonly string[], most: (kind: string) => number): Promise<void> {
    const found = [...paths];
    const kinds = new Map<string, number>();
    for (let next = found.shift(); next !== undefined; next = found.shift()) {
      const kind = next.replace(/[0-9a-f-]{36}/g, ':id').replace(/\?.*/, '');
      const count = kinds.get(kind) ?? 0;
      if (count >= most(kind)) continue;
      kinds.set(kind, count + 1);
      for (const link of await this.visit(next))
        if (!this.visited.includes(link) && !found.includes(link)) found.push(link);
    }
  }

  #judge(response: Response): void {
    const status = response.status();
    if (status !== 403 && status !== 404) return;
    const { pathname } = new URL(response.url());
    this.refused.push({ status, request: `${response.request().method()} ${pathname}`, after: this.#after });
  }

  /** Loads the page and presses each of its controls once; what a control opens is pressed too. Controls of the shell are pressed on one page. Answers its links. */
  async visit(path: string): Promise<string[]> {
    this.visited.push(path);
    this.#after = path;
    await this.#load(path);
    const pressed = new Set<string>();
    const places = new Map<string, number>();
    const links = new Set(await this.#links());
    /** The control after which another one first appeared, to find it again. */
    const openers = new Map<string, string>();
    for (let presses = 0; presses < MOST_PRESSES; presses += 1) {
      const next = await this.#next(path, { pressed, places, openers });
      if (!next) break;
      const before = new Set((await this.#controls()).map(({ key }) => key));
      await this.#press(path, next.key);
      for (const link of await this.#links()) links.add(link);
      for (const { key } of await this.#controls())
        if (!before.has(key) && !openers.has(key)) openers.set(key, next.key);
    }
    for (const key of KEYS) await this.#type(path, key);
    return [...links];
  }

  async #load(path: string): Promise<void> {
    await this.#page.goto(new URL(path, this.#page.url()).href);
    await this.#quiet();
  }

  async #quiet(): Promise<void> {
    const began = Date.now();
    for (let calm = 0; calm < 3 && Date.now() - began < MOST_WAIT_MS; ) {
      await this.#page.waitForTimeout(20);
      calm = this.#open.size === 0 ? calm + 1 : 0;
    }
  }

  #links(): Promise<string[]> {
    return this.#page.evaluate<string[]>(
      `[...document.querySelectorAll('a[href^="/"]')].map((one) => one.getAttribute('href'))`,
    );
  }

  async #controls(): Promise<Control[]> {
    const controls = await this.#page.evaluate<Control[]>(CONTROLS);
    const { pathname } = new URL(this.#page.url());
    return controls.filter(({ key }) => !this.#never.test(`${pathname} ${key}`));
  }

  /** A control that is there and was not pressed; when none is left, one that an earlier press had opened. */
  async #next(
    path: string,
    { pressed, places, openers }: { pressed: Set<string>; places: Map<string, number>; openers: Map<string, string> },
  ): Promise<Control | undefined> {
    const take = (controls: Control[]): Control | undefined => {
      const found = controls.find(
        ({ key, place }) => !pressed.has(key) && !this.#shell.has(key) && (places.get(place) ?? 0) < MOST_AT_A_PLACE,
      );
      if (!found) return undefined;
      if (found.isShell) this.#shell.add(found.key);
      pressed.add(found.key);
      places.set(found.place, (places.get(found.place) ?? 0) + 1);
      return found;
    };
    const here = take(await this.#controls());
    if (here) return here;
    for (const [key, opener] of openers) {
      if (pressed.has(key)) continue;
      await this.#load(path);
      if (!(await this.#press(path, opener))) continue;
      const found = take((await this.#controls()).filter((control) => control.key === key));
      if (found) return found;
      pressed.add(key);
    }
    return undefined;
  }

  /** False when the control is not there. A press that led to another page comes back. */
  async #press(path: string, key: string): Promise<boolean> {
    const [place = '', name = ''] = key.split('|');
    this.#after = `${path}: ${place.split('>').at(-1)} ${name}`;
    await this.#page.mouse.move(300, 300);
    const isThere = await this.#page.evaluate<boolean>(`(() => {
      const one = document.querySelector('[data-explored=' + CSS.escape(${JSON.stringify(key)}) + ']');
      one?.scrollIntoView({ block: 'nearest' });
      one?.click();
      return Boolean(one);
    })()`);
    this.presses += 1;
    await this.#quiet();
    await this.#return(path);
    return isThere;
  }

  async #type(path: string, key: string): Promise<void> {
    this.#after = `${path}: key ${key}`;
    await this.#page.keyboard.press(key);
    await this.#quiet();
    await this.#return(path);
  }

  async #return(path: string): Promise<void> {
    const here = new URL(this.#page.url());
    if (here.pathname !== new URL(path, here).pathname) await this.#load(path);
  }
}
