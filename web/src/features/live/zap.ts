// The channels that people zap through: those of the list they came from, in its order.

export interface ZapChannel {
  id: string;
  number: string;
}

const KEPT = 'foyer.live.zap';

/** Keeps the list from which a channel is opened. */
export function keepZapList(storage: Pick<Storage, 'setItem'>, channels: readonly ZapChannel[]): void {
  storage.setItem(KEPT, JSON.stringify(channels.map(({ id, number }) => ({ id, number }))));
}

export function readZapList(storage: Pick<Storage, 'getItem'>): ZapChannel[] {
  try {
    return JSON.parse(storage.getItem(KEPT) ?? '[]') as ZapChannel[];
  } catch {
    return [];
  }
}

/** The channel `by` places on, around the ends; undefined in a list of one. */
export function zapTo(channels: readonly ZapChannel[], id: string, by: 1 | -1): ZapChannel | undefined {
  if (channels.length < 2) return undefined;
  const at = channels.findIndex((one) => one.id === id);
  return channels[(at + by + channels.length) % channels.length];
}
