// The whole app by arrows, Enter and Escape: arrows move the focus by geometry between the navigation and the content,
// Escape goes back, and on Home a remote's Back leaves after a question. Grids, rails, menus and tabs handle their own keys first.
import { ARROWS, gapAcross, nearest, type Way } from '#core/geometry/nearest.ts';
import { goto } from '$app/navigation';
import { usesRemote } from './posture.ts';

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, [tabindex="0"]';
/** Their cards share one tab stop, and arrows reach each of them. */
const ROVING = '.rail a[href], [role=grid] a[href]';
/** Repeats what the cards of its rail offer. */
const REPEATED = '.rail > header > :not(.fresh)';
/** Where a page begins, the best one first. */
const STARTS = ['[role=grid] a[tabindex="0"]', '.play a', '.rail a[href]', 'ul a[href], ol a[href]', FOCUSABLE];
const NAVIGATION = 'header.side, nav.tabs';

/** Fields whose own keys are arrows. */
const OWN_ARROWS =
  'textarea, select, [contenteditable], input:is([type=number], [type=range], [type=radio], [type=date])';
const LINE_FIELD = 'input:not([type=checkbox], [type=button], [type=submit])';

let lastInContent: HTMLElement | undefined;

const isShown = (one: HTMLElement): boolean =>
  one.checkVisibility({ visibilityProperty: true }) && !one.closest('.unseen') && one.getClientRects().length > 0;

const reachable = (root: ParentNode): HTMLElement[] =>
  [...root.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
    (one) => (one.tabIndex >= 0 || one.matches(ROVING)) && !one.closest(REPEATED) && isShown(one),
  );

const withBoxes = (all: readonly HTMLElement[]) => all.map((one) => [one, one.getBoundingClientRect()] as const);

function startOf(root: ParentNode): HTMLElement | undefined {
  for (const selector of STARTS) {
    const found = [...root.querySelectorAll<HTMLElement>(selector)].find(
      (one) => isShown(one) && !one.closest(REPEATED),
    );
    if (found) return found;
  }
  return undefined;
}

/** Nothing that is used has the focus: the page, or its heading after a navigation. */
const isFree = (one: Element | null): boolean => !one || one.matches('body, main, h1, [role=grid]');

function show(one: HTMLElement | undefined): boolean {
  if (!one) return false;
  one.focus({ preventScroll: true });
  one.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  if (one.closest('main')) lastInContent = one;
  return true;
}

/** To the side one stays in the row, or crosses between the navigation and the content. */
function aside(from: HTMLElement, way: Way): HTMLElement | undefined {
  const navigation = from.closest<HTMLElement>(NAVIGATION);
  if (navigation) return lastInContent?.isConnected && isShown(lastInContent) ? lastInContent : startOf(mainOf());
  const box = from.getBoundingClientRect();
  const row = withBoxes(reachable(mainOf())).filter(([one, to]) => one !== from && gapAcross(box, to, way) === 0);
  return nearest(box, row, way) ?? (isTowardsNavigation(way) ? navigationEntry() : undefined);
}

const mainOf = (): ParentNode => document.querySelector('main') ?? document;

const isTowardsNavigation = ([x]: Way): boolean =>
  x === (getComputedStyle(document.documentElement).direction === 'rtl' ? 1 : -1);

function navigationEntry(): HTMLElement | undefined {
  const all = [...document.querySelectorAll<HTMLElement>(NAVIGATION)].flatMap(reachable);
  return all.find((one) => one.getAttribute('aria-current') === 'page') ?? all[0];
}

/** Up and down one stays in the content, or in the navigation, while it has something there. */
function along(from: HTMLElement, way: Way): HTMLElement | undefined {
  const box = from.getBoundingClientRect();
  const home = from.closest<HTMLElement>(NAVIGATION) ?? mainOf();
  const near = withBoxes(reachable(home)).filter(([one]) => one !== from);
  return (
    nearest(box, near, way) ??
    nearest(
      box,
      withBoxes(reachable(document)).filter(([one]) => isBar(one)),
      way,
    )
  );
}

/** The bar at the foot of a phone's page. */
const isBar = (one: HTMLElement): boolean => one.closest('nav.tabs') !== null;

function within(dialog: HTMLElement, from: Element | null, way: Way): HTMLElement | undefined {
  const all = reachable(dialog);
  if (!(from instanceof HTMLElement) || !all.includes(from)) return all[0];
  return nearest(from.getBoundingClientRect(), withBoxes(all.filter((one) => one !== from)), way);
}

function next(way: Way): HTMLElement | undefined {
  const from = document.activeElement;
  const dialog = document.querySelector<HTMLElement>('dialog[open]');
  if (dialog) return within(dialog, from, way);
  if (isFree(from) || !(from instanceof HTMLElement)) return startOf(mainOf()) ?? navigationEntry();
  return way[0] === 0 ? along(from, way) : aside(from, way);
}

/** The page before in the app; from a page that was opened by its address, Home. */
function back(): boolean {
  const { navigation } = globalThis as { navigation?: { canGoBack: boolean } };
  if (navigation ? navigation.canGoBack : history.length > 1) history.back();
  else void goto('/');
  return true;
}

const isTyping = (target: Element, way: Way | undefined): boolean =>
  target.matches(OWN_ARROWS) || (target.matches(LINE_FIELD) && (!way || way[0] !== 0));

const BACK = new Set(['Escape', 'GoBack', 'BrowserBack']);

/** The browser itself closes a dialog by Escape, and goes back by its own key. */
function goesBack(key: string, leave: (() => void) | undefined): boolean {
  const dialog = document.querySelector<HTMLDialogElement>('dialog[open]');
  if (dialog) {
    if (key !== 'Escape') dialog.requestClose();
    return key !== 'Escape';
  }
  if (location.pathname !== '/') return key !== 'BrowserBack' && back();
  if (!usesRemote() || !leave) return false;
  leave();
  return true;
}

function handle({ key, target }: KeyboardEvent, leave: (() => void) | undefined): boolean {
  const way = ARROWS[key];
  if (target instanceof Element && isTyping(target, way)) return false;
  if (way) return show(next(way));
  return BACK.has(key) && goesBack(key, leave);
}

/** A listener for the keys of the page; what an element handles itself is prevented by then. `leave` is called by Back on Home. */
export function arrowKeys(event: KeyboardEvent, leave?: () => void): void {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  if (handle(event, leave)) event.preventDefault();
}
