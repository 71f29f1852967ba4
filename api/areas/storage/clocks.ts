import type { Db } from '#platform/db.ts';
import { isUnavailable } from './states.store.ts';
import type { StorageRow } from './storages.store.ts';

type HoldClocks = (db: Db, storageId: string, unavailableMs: number) => Promise<void>;

let hold: HoldClocks = async () => undefined;

/** How Libraries extends grace and time in the trash, which this area must not import. */
export function holdClocksBy(holdClocks: HoldClocks): void {
  hold = holdClocks;
}

/** Called in the transaction in which a person ends an outage: nothing runs out for the time that it lasted. */
export async function holdClocksOf(db: Db, row: StorageRow): Promise<void> {
  const was = !row.enabled || isUnavailable(row.state);
  if (was) await hold(db, row.id, Math.max(0, Date.now() - row.state_since.getTime()));
}
