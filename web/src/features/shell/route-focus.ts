// After a navigation within the app the heading has the focus, so that a screen reader goes on there. Kit announces the
// title. After Back the link that was followed has it again, as soon as its page shows it.
import { afterNavigate, beforeNavigate } from '$app/navigation';

interface Left {
  href: string;
  /** Links of one address: which of them. */
  at: number;
}

/** Milliseconds in which a page shows its links. */
const PATIENCE_MS = 5000;
const left = new Map<string, Left>();

const linksTo = (href: string): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>('main a[href]')].filter((one) => one.getAttribute('href') === href);

const nothingFocused = (): boolean => document.activeElement?.matches('body, h1, main') ?? true;

function keep(place: string): void {
  const link = document.activeElement;
  const href = link?.closest('main') ? link.getAttribute('href') : null;
  if (href === null || link?.closest('[role=grid]')) left.delete(place);
  else left.set(place, { href, at: linksTo(href).indexOf(link as HTMLElement) });
}

function restore({ href, at }: Left): void {
  const until = performance.now() + PATIENCE_MS;
  const look = (): void => {
    if (!nothingFocused()) return;
    const link = linksTo(href)[at];
    if (link) link.focus();
    else if (performance.now() < until) requestAnimationFrame(look);
  };
  look();
}

const placeOf = ({ pathname, search }: URL): string => pathname + search;

export function focusHeading(): void {
  beforeNavigate(({ from, type }) => {
    if (from && type !== 'popstate') keep(placeOf(from.url));
  });
  afterNavigate(({ type, to }) => {
    const place = to && left.get(placeOf(to.url));
    if (type === 'popstate' && place) restore(place);
    if (type === 'enter' || type === 'popstate' || document.activeElement?.matches('input')) return;
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  });
}
