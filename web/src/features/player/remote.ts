// Arrow keys of a television: hidden controls seek and play, visible ones move the focus by geometry.
import type { Controller } from './controller.svelte.ts';

const REMOTE_KEYS = new Set(['GoBack', 'BrowserBack', 'MediaPlayPause', 'MediaPlay', 'MediaPause']);

/** True for keys that no keyboard of a desk has. */
export const isRemoteKey = (key: string): boolean => REMOTE_KEYS.has(key);

/** Handles a key in the sofa posture; false leaves it to the other keys. */
export function remote(controller: Controller, key: string, root: HTMLElement): boolean {
  if (key === 'GoBack' || key === 'BrowserBack' || key === 'Escape') return goBack(controller);
  const isInControls = root.querySelector('.chrome, [role=dialog]')?.contains(document.activeElement) ?? false;
  if (key === 'Enter' && !isInControls && !controller.panel) {
    controller.player.toggle();
    return true;
  }
  return controller.shown ? within(root, key) : hidden(controller, key, root);
}

function goBack(controller: Controller): boolean {
  if (controller.panel || !controller.shown || controller.state.phase !== 'playing') controller.escape();
  else {
    (document.activeElement as HTMLElement | null)?.blur();
    controller.rest();
  }
  return true;
}

/** Seeking stays seeking while it is repeated: the controls do not take the focus. */
function hidden(controller: Controller, key: string, root: HTMLElement): boolean {
  const { skipBackMs = 10_000, skipForwardMs = 10_000 } = controller.prefs ?? {};
  if (key === 'ArrowLeft') controller.player.seekBy(-skipBackMs);
  else if (key === 'ArrowRight') controller.player.seekBy(skipForwardMs);
  else if (key === 'ArrowUp') controller.skip();
  else if (key === 'ArrowDown') {
    controller.wake();
    root.querySelector<HTMLElement>('.controls .row button')?.focus();
  } else return false;
  return true;
}

const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The nearest control in the direction of the arrow gets the focus. On the seek bar left and right seek. */
function within(root: HTMLElement, key: string): boolean {
  const way = ARROWS[key];
  const from = document.activeElement;
  if (!way || !(from instanceof HTMLElement) || !root.contains(from)) return focusFirst(root, way);
  if (from.getAttribute('role') === 'slider' && way[1] === 0) return false;
  const best = [...root.querySelectorAll<HTMLElement>('button, [role=slider], a[href]')]
    .filter((one) => one !== from && one.offsetParent !== null)
    .map((one) => ({ one, cost: costOf(from.getBoundingClientRect(), one.getBoundingClientRect(), way) }))
    .filter(({ cost }) => Number.isFinite(cost))
    .sort((a, b) => a.cost - b.cost)[0];
  best?.one.focus();
  return true;
}

function focusFirst(root: HTMLElement, way: readonly [number, number] | undefined): boolean {
  if (!way) return false;
  root.querySelector<HTMLElement>('.controls .row button')?.focus();
  return true;
}

/** The distance along the arrow, and three times the gap beside it; a wide bar is above all that it covers. */
function costOf(from: DOMRect, to: DOMRect, [x, y]: readonly [number, number]): number {
  const along =
    x * (to.x + to.width / 2 - (from.x + from.width / 2)) + y * (to.y + to.height / 2 - (from.y + from.height / 2));
  const beside =
    x === 0 ? gap([from.left, from.right], [to.left, to.right]) : gap([from.top, from.bottom], [to.top, to.bottom]);
  return along > 4 ? along + 3 * beside : Number.POSITIVE_INFINITY;
}

type Span = readonly [from: number, to: number];

const gap = (a: Span, b: Span): number => Math.max(0, b[0] - a[1], a[0] - b[1]);
