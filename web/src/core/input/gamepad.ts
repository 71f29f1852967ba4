// A gamepad of the standard mapping as the keys that a page knows: which are pressed now, and which of them repeat.

/** What the browser says of a gamepad, as far as it is read. */
export interface Pad {
  connected: boolean;
  mapping: string;
  buttons: readonly { pressed: boolean; value: number }[];
  axes: readonly number[];
}

/** By the number of the button. `Enter` is also a press of the focused element. */
export type Keys = Readonly<Record<number, string>>;

const COMMON: Keys = {
  0: 'Enter',
  1: 'Escape',
  2: 'MediaPlayPause',
  3: 'ContextMenu',
  9: 'MediaPlayPause',
  12: 'ArrowUp',
  13: 'ArrowDown',
  14: 'ArrowLeft',
  15: 'ArrowRight',
};

/** Shoulders and triggers in the pages: a screen up and down, and to both ends. */
export const PAGE_KEYS: Keys = { ...COMMON, 4: 'PageUp', 5: 'PageDown', 6: 'Home', 7: 'End' };
/** In the player shoulders skip by the seconds that the profile chose, triggers seek by 30. */
export const PLAYER_KEYS: Keys = { ...COMMON, 4: 'MediaRewind', 5: 'MediaFastForward', 6: 'j', 7: 'l' };

/** A trigger and a stick count from half of their way. */
const HALF = 0.5;
const FIRST_REPEAT_MS = 400;
const REPEAT_MS = 110;
/** OK and Back of a finger that stays on the button would open what the first press led to. */
const ONCE = new Set(['Enter', 'Escape', 'MediaPlayPause', 'ContextMenu']);

function ofStick([x = 0, y = 0]: readonly number[]): string | undefined {
  if (Math.max(Math.abs(x), Math.abs(y)) <= HALF) return undefined;
  if (Math.abs(x) >= Math.abs(y)) return x > 0 ? 'ArrowRight' : 'ArrowLeft';
  return y > 0 ? 'ArrowDown' : 'ArrowUp';
}

function keysOf({ buttons, axes }: Pad, keys: Keys): (string | undefined)[] {
  const down = [...buttons.entries()].filter(([, { pressed, value }]) => pressed || value > HALF);
  return [...down.map(([at]) => keys[at]), ofStick(axes)];
}

export interface KeyPress {
  key: string;
  repeat: boolean;
}

export class PadReader {
  /** When a key that is held is due again. */
  readonly #due = new Map<string, number>();

  /** The presses since the last reading, of all pads together. */
  read(pads: readonly (Pad | null)[], keys: Keys, now: number): KeyPress[] {
    const usable = pads.filter((pad) => pad?.connected && pad.mapping === 'standard');
    const held = new Set(usable.flatMap((pad) => (pad ? keysOf(pad, keys) : [])).filter((key) => key !== undefined));
    for (const key of this.#due.keys()) if (!held.has(key)) this.#due.delete(key);
    const presses = [...held]
      .filter((key) => now >= (this.#due.get(key) ?? now))
      .map((key) => ({ key, repeat: this.#due.has(key) }));
    for (const { key, repeat } of presses)
      this.#due.set(key, ONCE.has(key) ? Number.POSITIVE_INFINITY : now + (repeat ? REPEAT_MS : FIRST_REPEAT_MS));
    return presses;
  }
}
