// Compares a backup with the live database by counts and ids; writes nothing.
import { objectName } from '#platform/backup-manifest.ts';
import type { Db } from '#platform/db.ts';
import type { Keys } from '#platform/keys.ts';
import type { Bucket, Objects } from '#platform/objects.ts';
import { storedTable } from '#platform/settings/table.ts';
import type { Opened, Row, Stored } from '../backups/stored.ts';
import type { RestorePlan } from './restore.schemas.ts';

const OBJECTS_AT_ONCE = 8;
const OBJECTS_MS = 15_000;

export async function changesOf(db: Db, stored: Stored): Promise<RestorePlan['changes']> {
  const [accounts, libraries] = [await accountChanges(db, stored), await libraryChanges(db, stored)];
  const [items] = await db('items').count<{ count: number }[]>('* as count');
  return {
    accounts,
    libraries,
    items: { before: Number(items?.count ?? 0), after: await stored.count('items') },
    playlists: { before: 0, after: await stored.count('playlists') },
  };
}

/** Sessions that the restore would end. */
export async function countSessions(db: Db): Promise<number> {
  const [row] = await db('sessions').whereRaw('expires_at > now()').count<{ count: number }[]>('* as count');
  return Number(row?.count ?? 0);
}

const COMPARED = ['username', 'role', 'email', 'password_hash', 'revision'] as const;

async function accountChanges(db: Db, stored: Stored): Promise<RestorePlan['changes']['accounts']> {
  const people = (row: Row): boolean => !row.deleted_at && row.is_system !== 't' && row.is_system !== 'true';
  const after = await byId(stored, 'accounts', people);
  const now = await db('accounts')
    .where({ is_system: false })
    .whereNull('deleted_at')
    .select('id', ...COMPARED);
  const names = (ids: Set<string>, of: Map<string, Row>): string[] =>
    [...ids].map((id) => of.get(id)?.username ?? id).sort();
  const before = new Map(now.map((row) => [String(row.id), textsOf(row)]));
  const [ours, theirs] = [new Set(before.keys()), new Set(after.keys())];
  const both = [...ours.intersection(theirs)];
  const changed = both.filter((id) => COMPARED.some((name) => before.get(id)?.[name] !== after.get(id)?.[name]));
  return {
    added: names(theirs.difference(ours), after),
    removed: names(ours.difference(theirs), before),
    changed: names(new Set(changed), before),
  };
}

const textsOf = (row: Record<string, string | number | null>): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]));

async function libraryChanges(db: Db, stored: Stored): Promise<RestorePlan['changes']['libraries']> {
  const after = await byId(stored, 'libraries', (row) => !row.deleted_at);
  const now = await db('libraries').whereNull('deleted_at').select('id', 'name');
  const ours = new Set(now.map(({ id }) => id));
  return {
    added: [...after]
      .filter(([id]) => !ours.has(id))
      .map(([id, row]) => row.name ?? id)
      .sort(),
    removed: now
      .filter(({ id }) => !after.has(id))
      .map(({ name }) => name)
      .sort(),
  };
}

async function byId(stored: Stored, table: string, wanted: (row: Row) => boolean): Promise<Map<string, Row>> {
  const found = new Map<string, Row>();
  for await (const row of stored.rows(table)) if (wanted(row)) found.set(row.id ?? '', row);
  return found;
}

/** Columns with sealed text in the tables of a backup. */
const SEALED = {
  sign_in_methods: ['secret_sealed'],
  webhooks: ['url', 'headers', 'secret'],
  plus_licence: ['sealed'],
} as const;

/** Which sealed values this server can open; each value names the key that sealed it. */
export async function sealedOf(keys: Keys, stored: Stored): Promise<RestorePlan['sealed']> {
  const opens = (text: string): boolean => keys.sealing.some(({ kid }) => text.startsWith(`${kid}.`));
  const result: RestorePlan['sealed'] = { openable: 0, lost: [] };
  for await (const { key, value } of stored.rows('settings')) {
    const text = secretOf(key ?? '', value ?? '');
    if (text === undefined) continue;
    if (opens(text)) result.openable += 1;
    else result.lost.push(key ?? '');
  }
  for (const [table, columns] of Object.entries(SEALED)) {
    const all = await sealedIn(stored, table, columns);
    const openable = all.filter(opens).length;
    result.openable += openable;
    if (openable < all.length) result.lost.push(`${table} ${all.length - openable}`);
  }
  return result;
}

async function sealedIn(stored: Stored, table: string, columns: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const row of stored.rows(table)) found.push(...columns.flatMap((column) => row[column] ?? []));
  return found;
}

/** The sealed text of a secret setting. */
function secretOf(key: string, value: string): string | undefined {
  const marks = Object.hasOwn(storedTable, key) ? storedTable[key as keyof typeof storedTable].marks : '';
  return marks.includes('S') && value.startsWith('"') ? (JSON.parse(value) as string) : undefined;
}

/** How many objects are present, at the destination, or missing; an object that was not checked in time counts as to fetch. */
export async function objectsOf(objects: Objects, opened: Opened | undefined): Promise<RestorePlan['objects']> {
  const counts = { present: 0, toFetch: 0, missing: 0 };
  if (!opened) return counts;
  const { manifest, destination } = opened;
  const end = Date.now() + OBJECTS_MS;
  const left = manifest.objects.values();
  const look = async (): Promise<void> => {
    for (const object of left) {
      const inTime = Date.now() < end;
      const here = inTime ? await objects.stat(object.bucket as Bucket, object.key).catch(() => undefined) : undefined;
      const there = () => destination.size(objectName(object, manifest.encryption));
      if (here?.size === object.bytes) counts.present += 1;
      else if (!inTime || (await there()) !== undefined) counts.toFetch += 1;
      else counts.missing += 1;
    }
  };
  await Promise.all(Array.from({ length: OBJECTS_AT_ONCE }, look));
  return counts;
}
