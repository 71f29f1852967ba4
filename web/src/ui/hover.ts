// Two buttons that follow the pointer from card to card, and the long press of a finger. One pair for the whole list.
import * as m from '#messages/card.ts';
import './hover.css';

type Act = (action: 'play' | 'menu', cell: Element, at: { x: number; y: number }) => void;
/** The card around a part of the list, when it has actions. */
type CellOf = (target: Element) => HTMLElement | null;
const LONG_PRESS_MS = 500;

function button(name: string, label: string): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.tabIndex = -1;
  made.className = `fy-over fy-${name}`;
  made.title = label;
  made.setAttribute('aria-label', label);
  return made;
}

export function followHover(host: HTMLElement, cellAt: CellOf, act: Act): () => void {
  const pair = [button('play', m.play()), button('more', m.more())];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pressed = false;
  const cellOf = (target: EventTarget | null): HTMLElement | null => target && cellAt(target as Element);
  const over = ({ target, pointerType }: PointerEvent): void => {
    const cell = cellOf(target);
    if (pointerType === 'mouse' && cell?.querySelector('.fy-art, .art') && pair[0]?.parentElement !== cell)
      cell.append(...pair);
  };
  const remove = (): void => {
    for (const one of pair) one.remove();
  };
  /** Every element that the pointer leaves gets the event; only the host counts. */
  const out = ({ target }: Event): void => {
    if (target === host) remove();
  };
  const press = (event: MouseEvent): void => {
    const at = pair.indexOf((event.target as Element).closest('button') as HTMLButtonElement);
    const cell = cellOf(event.target);
    if (at < 0 || !cell) return;
    event.preventDefault();
    event.stopPropagation();
    act(at === 0 ? 'play' : 'menu', cell, { x: event.clientX, y: event.clientY });
  };
  const menu = (event: MouseEvent): void => {
    const cell = cellOf(event.target);
    if (!cell) return;
    event.preventDefault();
    act('menu', cell, { x: event.clientX, y: event.clientY });
  };
  const stop = (): void => clearTimeout(timer);
  /** The finger of a long press lifts: without this the browser would click the element under it. */
  const lift = (event: TouchEvent): void => {
    stop();
    if (pressed && event.cancelable) event.preventDefault();
    pressed = false;
  };
  const touch = (event: TouchEvent): void => {
    const [finger] = event.touches;
    const cell = cellOf(event.target);
    if (!finger || !cell) return;
    stop();
    pressed = false;
    timer = setTimeout(() => {
      pressed = true;
      act('menu', cell, { x: finger.clientX, y: finger.clientY });
    }, LONG_PRESS_MS);
  };
  const listeners = [
    ['pointerover', over],
    ['pointerleave', out],
    ['click', press],
    ['contextmenu', menu],
    ['touchstart', touch],
    ['touchmove', stop],
    ['touchend', lift],
    ['touchcancel', stop],
  ] as const;
  const optionsOf = (name: string) => ({
    capture: !name.startsWith('touch'),
    passive: /^touch(start|move)/.test(name),
  });
  for (const [name, handle] of listeners) host.addEventListener(name, handle as EventListener, optionsOf(name));
  return () => {
    stop();
    remove();
    for (const [name, handle] of listeners) host.removeEventListener(name, handle as EventListener, optionsOf(name));
  };
}
