// Whether the app is used with a remote: arrows are the first input, or a key that only remotes have. A pointer ends it.
// The player reads it to start in its television mode.
const KEY = 'foyer.remote';

export const usesRemote = (): boolean => localStorage.getItem(KEY) === '1';

export function keepRemote(uses: boolean): void {
  if (uses === usesRemote()) return;
  if (uses) localStorage.setItem(KEY, '1');
  else localStorage.removeItem(KEY);
}

const REMOTE_KEYS = new Set(['GoBack', 'BrowserBack', 'MediaPlayPause', 'MediaPlay', 'MediaPause']);

/** True for keys that no keyboard of a desk has. */
export const isRemoteKey = (key: string): boolean => REMOTE_KEYS.has(key);

/** Follows the inputs of a page: a pointer that moves, or a letter, is not a remote. */
export function followPosture(): () => void {
  let first = true;
  const ended = ({ movementX, movementY }: PointerEvent): void => {
    if (movementX === 0 && movementY === 0) return; // the browser reports a pointer that stands still
    first = false;
    keepRemote(false);
  };
  const typed = ({ key }: KeyboardEvent): void => {
    if (isRemoteKey(key) || (first && key.startsWith('Arrow'))) keepRemote(true);
    first = false;
  };
  addEventListener('pointermove', ended, { passive: true });
  addEventListener('keydown', typed, { capture: true });
  return () => {
    removeEventListener('pointermove', ended);
    removeEventListener('keydown', typed, { capture: true });
  };
}
