// Gamepads: their buttons become keys of the element that has the focus, so that each page answers as it answers a remote.
import { PAGE_KEYS, PadReader, PLAYER_KEYS } from '#core/input/gamepad.ts';
import { keepRemote } from './posture.ts';

/** Of the height of the window. */
const SCREEN = 0.9;

const isPlayer = (): boolean => location.pathname.startsWith('/play/');

/** The page decides first; what it leaves presses the element itself, as the browser does for a real key. */
function send(key: string, repeat: boolean): void {
  const target = document.activeElement ?? document.body;
  const event = new KeyboardEvent('keydown', { key, repeat, bubbles: true, cancelable: true, composed: true });
  const isLeft = target.dispatchEvent(event);
  target.dispatchEvent(new KeyboardEvent('keyup', { key, bubbles: true, composed: true }));
  if (isLeft) DEFAULTS[key]?.(target);
}

/** What a browser does by itself for a real key. */
const DEFAULTS: Readonly<Record<string, (target: Element) => void>> = {
  Enter: (target) => {
    if (target instanceof HTMLInputElement && !/^(checkbox|radio|button|submit)$/.test(target.type))
      target.form?.requestSubmit();
    else if (target instanceof HTMLElement && target !== document.body) target.click();
  },
  Escape: () => document.querySelector<HTMLDialogElement>('dialog[open]')?.requestClose(),
  PageUp: () => scrollBy({ top: -SCREEN * innerHeight }),
  PageDown: () => scrollBy({ top: SCREEN * innerHeight }),
  Home: () => scrollTo({ top: 0 }),
  End: () => scrollTo({ top: document.documentElement.scrollHeight }),
};

/** Reads gamepads while one is connected and the page has the focus; the result ends it. */
export function followGamepads(): () => void {
  const reader = new PadReader();
  let frame = 0;

  function look(now: number): void {
    const pads = navigator.getGamepads();
    const keys = isPlayer() ? PLAYER_KEYS : PAGE_KEYS;
    const presses = reader.read(pads, keys, now);
    if (presses.length > 0) keepRemote(true);
    if (document.hasFocus()) for (const { key, repeat } of presses) send(key, repeat);
    frame = pads.some((pad) => pad?.connected) ? requestAnimationFrame(look) : 0;
  }

  function begin(): void {
    if (frame === 0) frame = requestAnimationFrame(look);
  }

  addEventListener('gamepadconnected', begin);
  if (typeof navigator.getGamepads === 'function' && navigator.getGamepads().some(Boolean)) begin();
  return () => {
    removeEventListener('gamepadconnected', begin);
    cancelAnimationFrame(frame);
  };
}
