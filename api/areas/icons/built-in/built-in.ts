// The built-in sets: part of the program, with fixed ids and no rows.
import { createHash } from 'node:crypto';
import { drawings } from './drawings.ts';
import { type IconSlot, iconSlots } from './slots.ts';

export interface BuiltInSet {
  id: string;
  name: string;
  description: string;
  /** Width of a line on a square of 24. */
  stroke: number;
}

export const builtInSets = [
  {
    id: '01900000-0000-7000-8000-0000001c0001',
    name: 'Foyer',
    description: 'Fine lines in the colour of the theme',
    stroke: 1.75,
  },
  {
    id: '01900000-0000-7000-8000-0000001c0002',
    name: 'Foyer Bold',
    description: 'Strong lines in the colour of the theme, for screens that are viewed from afar',
    stroke: 2.75,
  },
] as const satisfies readonly BuiltInSet[];

/** The set that fills every place. */
export const DEFAULT_SET = builtInSets[0].id;

export interface BuiltInIcon {
  id: string;
  set: BuiltInSet;
  slot: IconSlot;
}

/** Made of set and slot, so that a new slot changes no other id. */
const idOf = ({ id }: BuiltInSet, slot: IconSlot): string =>
  `01900000-0000-7000-8000-${createHash('sha256').update(`${id} ${slot}`).digest('hex').slice(0, 12)}`;

export const builtInIcons: readonly BuiltInIcon[] = builtInSets.flatMap((set) =>
  iconSlots.map((slot) => ({ id: idOf(set, slot), set, slot })),
);

const icons = new Map(builtInIcons.map((icon) => [icon.id, icon]));

export const builtInIcon = (id: string): BuiltInIcon | undefined => icons.get(id);
export const builtInSet = (id: string): BuiltInSet | undefined => builtInSets.find((set) => set.id === id);

/** Readable on dark and on light where a client cannot tint it. */
const NEUTRAL = '#808690';

/** A drawing by its key: the id of the set and the slot. */
export const drawingKey = ({ set, slot }: Pick<BuiltInIcon, 'set' | 'slot'>): string => `${set.id} ${slot}`;

/** The SVG of a drawing key; undefined for one that this version does not have. */
export function drawingOf(key: string): Buffer | undefined {
  const [setId = '', slot = ''] = key.split(' ');
  const set = builtInSet(setId);
  const drawing = Object.hasOwn(drawings, slot) ? drawings[slot as IconSlot] : undefined;
  if (!set || drawing === undefined) return undefined;
  const line = `fill="none" stroke="${NEUTRAL}" stroke-width="${set.stroke}" stroke-linecap="round" stroke-linejoin="round"`;
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512" viewBox="0 0 24 24" ${line}>${drawing}</svg>`,
  );
}
