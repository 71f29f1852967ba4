import type { Knex } from 'knex';
import type { Rules } from '#kernel/filter.ts';
import { applyRules, moment, type SqlField, scalar } from '#kernel/filter-sql.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { updateServerState } from '#platform/server-state.ts';
import { definitionOf, type SettingKey } from '#platform/settings.ts';
import type { Row } from '#platform/typed-query.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'setting_changes.source': 'saved' | 'resource' | 'reset' | 'backup';
  }
}

/** Locks the revision of all saved values until the transaction ends, so that writes run one after another. */
export async function lockRevision(db: Db): Promise<number> {
  const row = await db('server_state').forUpdate().first('settings_revision');
  return row?.settings_revision ?? 0;
}

export interface Write {
  key: SettingKey;
  /** The stored JSON text; undefined deletes the saved value. */
  stored: string | undefined;
  /** Recorded in the history, as JSON; null for secrets. */
  before: string | null;
  after: string | null;
}

export interface By {
  accountId: string;
  keyName: string | undefined;
  note: string | undefined;
}

export async function writeSettings(db: Db, writes: readonly Write[], by: By & { revision: number }): Promise<void> {
  for (const { key, stored } of writes) {
    if (stored === undefined) await db('settings').where({ key }).delete();
    else
      await db('settings')
        .insert({ key, value: stored, updated_at: db.fn.now(), updated_by: by.accountId })
        .onConflict('key')
        .merge();
  }
  const changes = writes.map(({ key, stored, before, after }): Change => {
    return { key, before, after, source: stored === undefined ? 'reset' : 'saved' };
  });
  await writeChanges(db, changes, by);
}

/** Writes the values chosen during setup, with their history. */
export async function writeChosen(
  db: Db,
  values: Partial<Record<SettingKey, unknown>>,
  accountId: string,
): Promise<void> {
  const writes = Object.entries(values).map(([key, value]): Write => {
    const stored = JSON.stringify(definitionOf(key as SettingKey).schema.parse(value));
    return { key: key as SettingKey, stored, before: null, after: stored };
  });
  if (writes.length === 0) return;
  await writeSettings(db, writes, {
    accountId,
    keyName: undefined,
    note: undefined,
    revision: (await lockRevision(db)) + 1,
  });
}

export interface Change extends Omit<Write, 'stored'> {
  source: ChangeRow['source'];
}

/** Writes the history of one change, which increments the revision. */
export async function writeChanges(
  db: Db,
  changes: readonly Change[],
  { accountId, keyName, note, revision }: Partial<By> & { revision: number },
): Promise<void> {
  const by = { account_id: accountId ?? null, key_name: keyName ?? null, note: note ?? null, revision };
  await db('setting_changes').insert(changes.map((change) => ({ id: newId(), ...change, ...by })));
  await updateServerState(db, { settings_revision: revision });
}

/** The declared values when they were last taken over. */
export async function lastDeclared(db: Db): Promise<Partial<Record<SettingKey, unknown>>> {
  const row = await db('server_state').first('declared_settings');
  return row?.declared_settings ?? {};
}

export async function noteDeclared(db: Db, declared: Partial<Record<SettingKey, unknown>>): Promise<void> {
  await updateServerState(db, { declared_settings: JSON.stringify(declared) });
}

/** Keys that were written after this revision. */
export async function changedSince(db: Db, revision: number): Promise<string[]> {
  return db('setting_changes').where('revision', '>', revision).distinct('key').pluck('key') as Promise<string[]>;
}

export interface ChangeRow extends Row<'setting_changes'> {
  display_name: string | null;
}

export const changeFields: Readonly<Record<string, SqlField<{ now: Date }>>> = {
  source: { kind: 'enum', values: ['saved', 'resource', 'reset', 'backup'], where: scalar('c.source', 'text') },
  user: { kind: 'enum', where: scalar('c.account_id::text', 'text') },
  at: { kind: 'date', where: moment('c.at') },
};

export interface ChangesWanted {
  key: string | undefined;
  group: string | undefined;
  rules: Rules;
  now: Date;
}

export function selectChanges(db: Db, { key, group, rules, now }: ChangesWanted): Knex.QueryBuilder {
  return db('setting_changes as c')
    .leftJoin('accounts as a', 'a.id', 'c.account_id')
    .modify((query) => {
      if (key) void query.where('c.key', key);
      if (group) void query.whereRaw(`c.key like ? and c.key not like ?`, [`${group}.%`, `${group}.%.%`]);
      applyRules(query, rules, { fields: changeFields, context: { now } });
    })
    .select('c.*', 'a.display_name');
}
