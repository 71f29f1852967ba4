import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '#platform/db.ts';
import { isCurrent, type Keys, seal, unseal } from '#platform/keys.ts';
import type { Log } from '#platform/log.ts';
import { resealSettings } from '#platform/settings.ts';

interface SealedColumn {
  table: string;
  column: string;
  /** SQL of what the sealed value is bound to beside table and column, as text. */
  row: string;
}

/** Sealed text that lasts longer than the hour for which a key before is kept. Settings are apart: theirs is JSON. */
const LASTING: readonly SealedColumn[] = [
  { table: 'sign_in_methods', column: 'secret_sealed', row: 'account_id::text' },
  { table: 'webhooks', column: 'url', row: 'id::text' },
  { table: 'webhooks', column: 'headers', row: 'id::text' },
  { table: 'webhooks', column: 'secret', row: 'id::text' },
  { table: 'push_subscriptions', column: 'endpoint', row: 'id::text' },
  { table: 'push_subscriptions', column: 'keys', row: 'id::text' },
  { table: 'email_messages', column: 'body', row: 'id::text' },
  { table: 'plus_licence', column: 'sealed', row: `'one'::text` },
];
const BATCH = 500;
const EVERY_MS = 60_000;

export interface Resealed {
  /** Sealed anew by the current key. */
  resealed: number;
  /** What no key of the ring opens. */
  unreadable: number;
}

interface SealedRow {
  row: string;
  sealed: string;
}

/** A value that somebody writes meanwhile is left as they wrote it. */
async function resealRow(db: Db, keys: Keys, found: SealedRow & { of: SealedColumn }): Promise<boolean> {
  const { table, column, row } = found.of;
  const place = `${table}|${column}|${found.row}`;
  const text = unseal(keys, found.sealed, place);
  if (text === undefined) return false;
  await db(table)
    .whereRaw(`${row} = ?`, [found.row])
    .where(column, found.sealed)
    .update({ [column]: seal(keys, text, place) });
  return true;
}

async function resealColumn(db: Db, keys: Keys, sealed: SealedColumn): Promise<Resealed> {
  const { table, column, row } = sealed;
  const counts: Resealed = { resealed: 0, unreadable: 0 };
  for (let last = ''; ; ) {
    const rows = await db(table)
      .whereNotNull(column)
      .whereRaw('not starts_with(??, ?)', [column, `${keys.sealing[0]?.kid}.`])
      .whereRaw(`${row} > ?`, [last])
      .orderByRaw(row)
      .limit(BATCH)
      .select<SealedRow[]>(db.raw(`${row} as row`), `${column} as sealed`);
    for (const found of rows)
      if (!isCurrent(keys, found.sealed))
        counts[(await resealRow(db, keys, { ...found, of: sealed })) ? 'resealed' : 'unreadable'] += 1;
    if (rows.length < BATCH) return counts;
    last = rows.at(-1)?.row ?? '';
  }
}

/** Everything that lasts is sealed by the current key afterwards, but for what cannot be opened. */
export async function resealAll(db: Db, keys: Keys): Promise<Resealed> {
  const all = await resealSettings(db, keys);
  for (const sealed of LASTING) {
    const { resealed, unreadable } = await resealColumn(db, keys, sealed);
    all.resealed += resealed;
    all.unreadable += unreadable;
  }
  return all;
}

const LOOK_MS = 5000;

/**
 * At once when the ring was changed, then each minute while it has a key beside the current one: a process that had the ring of before
 * may still have sealed by it. The log says when nothing is left of the others.
 */
export async function keepSealed({ db, keys, log }: { db: Db; keys: Keys; log: Log }, signal: AbortSignal) {
  let done: { ring?: Keys['sealing']; at: number; told?: string } = { at: 0 };
  while (!signal.aborted) {
    const { sealing: ring } = keys;
    const due = ring !== done.ring || Date.now() - done.at > EVERY_MS;
    if (ring.length > 1 && due) {
      const counts = await resealAll(db, keys).catch((error: Error) =>
        log.warn({ err: error.message }, 'secrets not sealed anew'),
      );
      const told = JSON.stringify([ring[0]?.kid, counts]);
      if (counts && told !== done.told)
        log.info({ kid: ring[0]?.kid, ...counts }, 'secrets are sealed by the current key');
      done = { ...(counts && { ring }), at: Date.now(), told };
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}
