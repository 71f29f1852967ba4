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
    const focused = await page.evaluate<Focused | undefined>(FOCUSED);
    if (!focused || focused.again) break;
    for (const fault of focused.faults) faults.add(fault);
  }
  return stops === 0 ? ['Tab reaches nothing'] : [...faults];
}
