// Arrow keys of a television: hidden controls seek and play, visible ones move the focus by geometry.
import { ARROWS, type Box, nearest, type Way } from '#core/geometry/nearest.ts';
import type { Controller } from './controller.svelte.ts';

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

/** The seek bar reaches into the row of the buttons. */
const isOneRow = (box: Box, to: Box): boolean => {
  const middle = to.top + to.height / 2;
  return middle > box.top && middle < box.top + box.height;
};

/** The nearest control in the direction of the arrow gets the focus, to the side one of the same row. On the seek bar left and right seek. */
function within(root: HTMLElement, key: string): boolean {
  const way = ARROWS[key];
  const from = document.activeElement;
  if (!way || !(from instanceof HTMLElement) || !root.contains(from)) return focusFirst(root, way);
  if (from.getAttribute('role') === 'slider' && way[1] === 0) return false;
  const others = [...root.querySelectorAll<HTMLElement>('button, [role=slider], a[href]')]
    .filter((one) => one !== from && one.offsetParent !== null)
    .map((one) => [one, one.getBoundingClientRect()] as const);
  const box = from.getBoundingClientRect();
  const row = way[1] === 0 ? others.filter(([, to]) => isOneRow(box, to)) : [];
  (nearest(box, row, way) ?? nearest(box, others, way))?.focus();
  return true;
}

function focusFirst(root: HTMLElement, way: Way | undefined): boolean {
  if (!way) return false;
  root.querySelector<HTMLElement>('.controls .row button')?.focus();
  return true;
}
