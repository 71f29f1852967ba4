// The plan as days, and each day as slots of tuners.
import type { RecordingSchedule, ScheduleEntry } from 'foyer-client';

export interface SlotOfDay {
  key: string;
  /** Absent for the owner's eyes only, and for recordings without a slot. */
  tuner?: string;
  /** From 1. */
  slot?: number;
  entries: ScheduleEntry[];
}

export interface DayOfPlan {
  /** The first moment of the day here, Unix ms. */
  day: number;
  slots: SlotOfDay[];
}

const dayOf = (iso: string): number => new Date(iso).setHours(0, 0, 0, 0);
const NONE = '';
const keyOf = ({ tunerId, slot }: ScheduleEntry): string => (tunerId === undefined ? NONE : `${tunerId} ${slot ?? 0}`);

function grouped<K>(entries: readonly ScheduleEntry[], keyed: (entry: ScheduleEntry) => K): Map<K, ScheduleEntry[]> {
  const groups = new Map<K, ScheduleEntry[]>();
  for (const entry of entries) groups.set(keyed(entry), [...(groups.get(keyed(entry)) ?? []), entry]);
  return groups;
}

/** Days in order; in each the recordings without a slot first, then the slots as the tuners are listed. */
export function daysOf({ items, slots }: Pick<RecordingSchedule, 'items' | 'slots'>): DayOfPlan[] {
  const order = new Map(slots.map(({ tunerId }, at) => [tunerId, at]));
  const rank = ({ tunerId, slot }: ScheduleEntry): number =>
    tunerId === undefined ? -1 : (order.get(tunerId) ?? slots.length) * 1000 + (slot ?? 0);
  const names = new Map(slots.map(({ tunerId, name }) => [tunerId, name]));
  const sorted = items.toSorted(
    (a, b) => rank(a) - rank(b) || Date.parse(a.recording.startAt) - Date.parse(b.recording.startAt),
  );
  const days = [...grouped(sorted, ({ recording }) => dayOf(recording.startAt))].sort(([a], [b]) => a - b);
  return days.map(([day, entries]) => ({
    day,
    slots: [...grouped(entries, keyOf)].map(([key, own]) => {
      const [{ tunerId, slot } = {}] = own;
      const tuner = tunerId && names.get(tunerId);
      return { key, entries: own, ...(tuner && { tuner }), ...(slot !== undefined && { slot: slot + 1 }) };
    }),
  }));
}
