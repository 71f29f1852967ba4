// The keys of the player. One table; pages show it, tests read it.

export type Command =
  | { do: 'toggle' | 'mute' | 'fullscreen' | 'captions' | 'nextCaptions' | 'audio' | 'quality' }
  | { do: 'play' | 'pause' | 'skip' | 'next' | 'previous' | 'pip' | 'why' | 'help' | 'escape' | 'settings' }
  | { do: 'seekBy' | 'volumeBy' | 'frames' | 'chapterBy' | 'rateBy' | 'offsetBy'; by: number }
  /** A share of the length. */
  | { do: 'seekTo'; share: number };

export interface Pressed {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
}

/** How far the two seek keys go, by the preferences of the profile. */
export interface Skips {
  backMs: number;
  forwardMs: number;
}

const LONG_MS = 30_000;
const SHORT_MS = 1000;
const OFFSET_MS = 50;
const VOLUME = 0.05;
const RATE = 0.25;

type Rule = Command | ((skips: Skips) => Command);

const KEYS: Readonly<Record<string, Rule>> = {
  ' ': { do: 'toggle' },
  k: { do: 'toggle' },
  MediaPlayPause: { do: 'toggle' },
  MediaPlay: { do: 'play' },
  MediaPause: { do: 'pause' },
  ArrowLeft: ({ backMs }) => ({ do: 'seekBy', by: -backMs }),
  ArrowRight: ({ forwardMs }) => ({ do: 'seekBy', by: forwardMs }),
  MediaRewind: ({ backMs }) => ({ do: 'seekBy', by: -backMs }),
  MediaFastForward: ({ forwardMs }) => ({ do: 'seekBy', by: forwardMs }),
  'Shift ArrowLeft': { do: 'seekBy', by: -SHORT_MS },
  'Shift ArrowRight': { do: 'seekBy', by: SHORT_MS },
  j: { do: 'seekBy', by: -LONG_MS },
  l: { do: 'seekBy', by: LONG_MS },
  ',': { do: 'frames', by: -1 },
  '.': { do: 'frames', by: 1 },
  ArrowUp: { do: 'volumeBy', by: VOLUME },
  ArrowDown: { do: 'volumeBy', by: -VOLUME },
  m: { do: 'mute' },
  f: { do: 'fullscreen' },
  c: { do: 'captions' },
  'Shift C': { do: 'nextCaptions' },
  a: { do: 'audio' },
  q: { do: 'quality' },
  s: { do: 'skip' },
  Enter: { do: 'skip' },
  n: { do: 'next' },
  'Shift N': { do: 'next' },
  MediaTrackNext: { do: 'next' },
  'Shift P': { do: 'previous' },
  MediaTrackPrevious: { do: 'previous' },
  PageUp: { do: 'chapterBy', by: 1 },
  PageDown: { do: 'chapterBy', by: -1 },
  '<': { do: 'rateBy', by: -RATE },
  '>': { do: 'rateBy', by: RATE },
  Home: { do: 'seekTo', share: 0 },
  End: { do: 'seekTo', share: 1 },
  '[': { do: 'offsetBy', by: -OFFSET_MS },
  ']': { do: 'offsetBy', by: OFFSET_MS },
  o: { do: 'pip' },
  i: { do: 'why' },
  '?': { do: 'help' },
  Escape: { do: 'escape' },
  GoBack: { do: 'escape' },
  BrowserBack: { do: 'escape' },
};

/** Keys whose sign already needs Shift on many keyboards. */
const SIGNS = new Set(['<', '>', '?', '[', ']', ',', '.']);

/** The command of a key, undefined for keys that belong to the browser or to a field. */
export function commandOf(pressed: Pressed, skips: Skips): Command | undefined {
  if (pressed.ctrlKey || pressed.altKey || pressed.metaKey) return undefined;
  if (/^\d$/.test(pressed.key)) return { do: 'seekTo', share: Number(pressed.key) / 10 };
  const letter = pressed.key.length === 1 ? pressed.key.toLowerCase() : pressed.key;
  const shifted = pressed.key.length === 1 ? pressed.key.toUpperCase() : pressed.key;
  const shift = pressed.shiftKey && !SIGNS.has(pressed.key);
  const rule = KEYS[shift ? `Shift ${shifted}` : letter];
  return typeof rule === 'function' ? rule(skips) : rule;
}

/** Rows of the sheet of keys: the name of its text and the keys. */
export const SHEET: readonly (readonly [name: string, keys: string])[] = [
  ['toggle', 'Space K'],
  ['seek', '← →'],
  ['seekLong', 'J L'],
  ['seekShort', 'Shift ← →'],
  ['frame', ', .'],
  ['chapter', 'PgUp PgDn'],
  ['tenth', '0–9'],
  ['ends', 'Home End'],
  ['volume', '↑ ↓'],
  ['mute', 'M'],
  ['captions', 'C'],
  ['nextCaptions', 'Shift C'],
  ['offset', '[ ]'],
  ['audio', 'A'],
  ['quality', 'Q'],
  ['rate', '< >'],
  ['skip', 'S Enter'],
  ['next', 'N'],
  ['previous', 'Shift P'],
  ['fullscreen', 'F'],
  ['pip', 'O'],
  ['why', 'I'],
  ['keys', '?'],
  ['leave', 'Esc'],
];
