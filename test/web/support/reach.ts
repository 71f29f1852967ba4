// What a page needs for those who enlarge it or use a keyboard.
import type { Page } from 'playwright-core';

/** Most stops of Tab that are looked at on a page. */
const MOST_STOPS = 25;

export const sideways = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.scrollingElement.scrollWidth > document.documentElement.clientWidth');

/**
 * The focused element with its faults: it shows no ring, it is out of sight, or a bar that stays in place covers its
 * middle or the middle of a side. The ring of a card may be on its picture.
 */
const FOCUSED = `(() => {
  const one = document.activeElement;
  if (!one || one === document.body) return undefined;
  const stops = (globalThis.stops ??= new Set());
  const again = stops.has(one);
  stops.add(one);
  const name = one.outerHTML.replace(/\\s+/g, ' ').slice(0, 110);
  const faults = [];
  const ringed = (it) => { const { outlineStyle, outlineWidth } = getComputedStyle(it); return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2; };
  const near = [one, one.parentElement, one.closest('label'), ...one.querySelectorAll('*'), ...(one.labels ?? [])].filter(Boolean);
  if (!near.some(ringed)) faults.push('has no ring');
  const { left, right, top, bottom } = one.getBoundingClientRect();
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  if (bottom - top <= innerHeight && (y < 0 || y > innerHeight || x < 0 || x > innerWidth)) faults.push('is out of sight');
  const covers = (it) => {
    for (let up = it; up; up = up.parentElement)
      if (['fixed', 'sticky'].includes(getComputedStyle(up).position) && !up.contains(one)) return true;
    return false;
  };
  const points = [[x, y], [left + 1, y], [right - 1, y], [x, top + 1], [x, bottom - 1]];
  if (points.some(([px, py]) => { const hit = document.elementFromPoint(px, py); return hit && covers(hit); })) faults.push('is covered');
  return { again, faults: faults.map((fault) => name + ' ' + fault) };
})()`;

interface Focused {
  /** It had the focus before. */
  again: boolean;
  faults: string[];
}

/** Goes through the page by Tab from `start` on, and answers the faults of each element that has the focus. */
export async function tabFaults(page: Page, start: string): Promise<string[]> {
  const faults = new Set<string>();
  await page.evaluate(`globalThis.stops = new Set(); document.querySelector('${start}')?.focus()`);
  let stops = 0;
  for (; stops < MOST_STOPS; stops += 1) {
    await page.keyboard.press('Tab');
    const look = () => page.evaluate<Focused | undefined>(FOCUSED);
    const focused = (await look()) ?? (await page.waitForTimeout(200).then(look)); // behind the last one the browser begins again
    if (!focused || focused.again) break;
    for (const fault of focused.faults) faults.add(fault);
  }
  return stops === 0 ? ['Tab reaches nothing'] : [...faults];
}

/**
 * Controls whose hit area is under 44 px: 21 px from its middle a finger hits something else. Links inside a sentence are as
 * high as its lines, which WCAG excepts, and a label belongs to its control.
 */
const small = (root: string): string => `(() => {
  const CONTROLS = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=menuitem], [role=menuitemradio], [role=option], [role=tab], [role=slider], [role=switch], [role=scrollbar], [tabindex="0"]';
  const words = (text) => text.replace(/[^\\p{L}\\p{N}]/gu, '');
  const inSentence = (one) => {
    if (one.tagName !== 'A' || getComputedStyle(one).display !== 'inline') return false;
    let block = one.parentElement;
    while (getComputedStyle(block).display === 'inline') block = block.parentElement;
    const links = [...block.querySelectorAll('a')].reduce((sum, link) => sum + words(link.textContent).length, 0);
    return words(block.textContent).length > links;
  };
  const isVisible = (one, { width, height }) => width > 1 && height > 1 && one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && getComputedStyle(one).pointerEvents !== 'none' && !one.closest('[inert], .unseen');
  const belongs = (one, hit) => one.contains(hit) || [...(one.labels ?? [])].some((label) => label.contains(hit));
  const faults = new Set();
  for (const one of document.querySelector('${root}').querySelectorAll(CONTROLS)) {
    one.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const label = one.labels?.[0];
    const isBox = label && ['checkbox', 'radio'].includes(one.type);
    const box = (isBox && label.getBoundingClientRect().height >= one.getBoundingClientRect().height ? label : one).getBoundingClientRect();
    if (!isVisible(one, one.getBoundingClientRect()) || inSentence(one)) continue;
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const at = ([dx, dy]) => document.elementFromPoint(x + dx, y + dy);
    const missed = [[0, 0], [-21, 0], [21, 0], [0, -21], [0, 21]].filter((point) => !belongs(one, at(point)));
    if (missed.length > 0) faults.add(one.outerHTML.replace(/\\s+/g, ' ').slice(0, 130) + ' is ' + Math.round(box.width) + ' x ' + Math.round(box.height) + ', missed at ' + missed.join(' ') + ' for ' + (at(missed[0])?.outerHTML ?? 'nothing').slice(0, 60));
  }
  scrollTo(0, 0);
  return [...faults];
})()`;

/** The controls in `root` that a finger does not hit safely. */
export async function smallTargets(page: Page, root = 'body'): Promise<string[]> {
  const look = () => page.evaluate<string[]>(small(root));
  if ((await look()).length === 0) return [];
  await page.waitForTimeout(500); // something may have passed over the page
  return look();
}
