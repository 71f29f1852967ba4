// Keys of a card: what each does with the item that has the focus.

export type CardAction = 'play' | 'menu' | 'watched' | 'favorite' | 'select' | 'range';

const KEYS: Readonly<Record<string, CardAction>> = {
  p: 'play',
  MediaPlayPause: 'play',
  m: 'menu',
  w: 'watched',
  f: 'favorite',
  x: 'select',
  ContextMenu: 'menu',
};

export function pressOf({ key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>): CardAction | undefined {
  if (key === 'Enter' && shiftKey) return 'play';
  if (key === 'X' && shiftKey) return 'range';
  return shiftKey ? undefined : KEYS[key];
}
