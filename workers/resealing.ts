import { setTimeout as sleep } from 'node:timers/promises';
import { notify } from '#areas/notifications/public.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { isCurrent, type Keys, SEALED_KEY_MISMATCH, seal, unseal } from '#platform/keys.ts';
import type { Log } from '#platform/log.ts';
import { updateServerState } from '#platform/server-state.ts';
import { resealSettings } from '#platform/settings.ts';

interface SealedColumn {
  table: string;
  column: string;
  /** SQL text of the row that the sealed value is bound to, in addition to table and column. */
  row: string;
}

/**
 * Sealed text that lives longer than the hour for which a former key is kept. Settings are separate, because their
 * values are JSON.
 */
const LASTING: readonly SealedColumn[] = [
  { table: 'sign_in_methods', column: 'secret_sealed', row: 'account_id::text' },
  { table: 'webhooks', column: 'url', row: 'id::text' },
  { table: 'webhooks', column: 'headers', row: 'id::text' },
  { table: 'webhooks', column: 'secret', row: 'id::text' },
  { table: 'push_subscriptions', column: 'endpoint', row: 'id::text' },
  { table: 'push_subscriptions', column: 'keys', row: 'id::text' },
  { table: 'email_messages', column: 'body', row: 'id::text' },
  { table: 'backup_places', column: 'secret', row: 'id::text' },
  { table: 'backup_settings', column: 'passphrase', row: `'one'::text` },
  { table: 'storages', column: 'secrets', row: 'id::text' },
  { table: 'live_tuners', column: 'secrets', row: 'id::text' },
  { table: 'live_tuners', column: 'own_guide', row: 'id::text' },
  { table: 'live_sources', column: 'address', row: 'id::text' },
  { table: 'guide_sources', column: 'secrets', row: 'id::text' },
  { table: 'catalogue_keys', column: 'sealed', row: 'name' },
  { table: 'plus_licence', column: 'sealed', row: `'one'::text` },
];
const BATCH = 500;
const EVERY_MS = 60_000;

export interface Resealed {
  /** Sealed again by the current key. */
  resealed: number;
  /** Values that no key of the ring opens. */
  unreadable: number;
  /** Values to enter again: keys of settings, and other places with their counts. */
  lost: string[];
}

interface SealedRow {
  row: string;
  sealed: string;
}

/** A value that is changed in the meantime is left as it is. */
async function resealRow(db: Db, keys: Keys, found: SealedRow & { of: SealedColumn }): Promise<boolean> {
  const { table, column, row } = found.of;
  const place = `${table}|${column}|${found.row}`;
  const text = unseal(keys, found.sealed, place);
  if (text === undefined) return false;
  await db
    .from(table)
    .whereRaw(`${row} = ?`, [found.row])
    .where(column, found.sealed)
    .update({ [column]: seal(keys, text, place) });
  return true;
}

interface ColumnResealed {
  resealed: number;
  /** Rows that no key of the ring opens. */
  closed: string[];
}

async function resealColumn(db: Db, keys: Keys, sealed: SealedColumn): Promise<ColumnResealed> {
  const { table, column, row } = sealed;
  const counts: ColumnResealed = { resealed: 0, closed: [] };
  for (let last = ''; ; ) {
    const rows = await db
      .from(table)
      .whereNotNull(column)
      .whereRaw('not starts_with(??, ?)', [column, `${keys.sealing[0]?.kid}.`])
      .whereRaw(`${row} > ?`, [last])
      .orderByRaw(row)
      .limit(BATCH)
      .select(db.raw(`${row} as row`), `${column} as sealed`);
    for (const found of rows)
      if (isCurrent(keys, found.sealed)) continue;
      else if (await resealRow(db, keys, { ...found, of: sealed })) counts.resealed += 1;
      else counts.closed.push(found.row);
    if (rows.length < BATCH) return counts;
    last = rows.at(-1)?.row ?? '';
  }
}

/** Seals everything long-lived with the current key, except values that cannot be opened. */
export async function resealAll(db: Db, keys: Keys): Promise<Resealed> {
  const settings = await resealSettings(db, keys);
  const all = { resealed: settings.resealed, unreadable: settings.closed.length };
  const rows = new Map<string, Set<string>>();
  for (const sealed of LASTING) {
    const { resealed, closed } = await resealColumn(db, keys, sealed);
    all.resealed += resealed;
    all.unreadable += closed.length;
    rows.set(sealed.table, new Set([...(rows.get(sealed.table) ?? []), ...closed]));
  }
  const tables = [...rows].filter(([, { size }]) => size > 0).map(([table, { size }]) => `${table} ${size}`);
  return { ...all, lost: [...settings.closed, ...tables] };
}

/**
 * Notifies settings managers once when sealed values become unreadable, and once when all can be read again. The check `keys` of the
 * server's health reports it meanwhile.
 */
export async function noteLost(db: Db, lost: readonly string[]): Promise<void> {
  const names = [...lost].sort();
  const now = JSON.stringify(names);
  await db.transaction(async (transaction) => {
    const known = await transaction('server_state').forUpdate().first('sealed_lost');
    if (!known || JSON.stringify(known.sealed_lost) === now) return;
    await updateServerState(transaction, { sealed_lost: now });
    await notify(transaction, {
      kind: lost.length > 0 ? 'check-failed' : 'check-recovered',
      data: { name: [SEALED_KEY_MISMATCH, ...names].join(', ').slice(0, MOST_NAMED) },
      url: '/admin/settings',
      mergeKey: `sealed-keys ${newId()}`, // each notification is separate
    });
  });
}

const LOOK_MS = 5000;
const MOST_NAMED = 200;

interface Keeping {
  db: Db;
  keys: Keys;
  log: Log;
}

/** Result of a check, with the ring that it used. */
interface Looked {
  ring?: Keys['sealing'];
  lost?: string;
  logged?: string;
}

async function lookOnce({ db, keys, log }: Keeping, before: Looked): Promise<Looked> {
  const { sealing: ring } = keys;
  const counts = await resealAll(db, keys).catch((error: Error) =>
    log.warn({ err: error.message }, 'secrets not sealed again'),
  );
  if (!counts) return { ...(before.logged !== undefined && { logged: before.logged }) };
  const lost = JSON.stringify(counts.lost);
  if (lost === before.lost || counts.lost.length === 0)
    await noteLost(db, counts.lost).catch((error: Error) => log.warn({ err: error.message }, 'not logged'));
  const logged = JSON.stringify([ring[0]?.kid, counts]);
  if (logged !== before.logged) log.info({ kid: ring[0]?.kid, ...counts }, 'secrets are sealed by the current key');
  return { ring, lost, logged };
}

/**
 * Runs at once when the ring changed, then each minute, because another process may still have sealed with the previous
 * ring. The log reports when no other key is in use. Unreadable values are reported after two checks found them,
 * because a ring may be newer than that of this process.
 */
export async function keepSealed(keeping: Keeping, signal: AbortSignal, everyMs = EVERY_MS): Promise<void> {
  let looked: Looked = {};
  let at = 0;
  while (!signal.aborted) {
    if (keeping.keys.sealing !== looked.ring || Date.now() - at > everyMs) {
      looked = await lookOnce(keeping, looked);
      at = Date.now();
    }
    await sleep(Math.min(LOOK_MS, everyMs), undefined, { signal }).catch(() => undefined);
  }
}
