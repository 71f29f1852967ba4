import type { Knex } from 'knex';
import type { Rules } from '#kernel/filter.ts';
import { applyRules, moment, type SqlField, scalar } from '#kernel/filter-sql.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { SettingKey } from '#platform/settings.ts';

/** The revision of all saved values, held until the transaction ends: writes come one after the other. */
export async function lockRevision(db: Db): Promise<number> {
  const row = await db('server_state')
    .forUpdate()
    .first<{ settings_revision: number } | undefined>('settings_revision');
  return row?.settings_revision ?? 0;
}

export interface Write {
  key: SettingKey;
  /** JSON text as it is kept; undefined puts the saved value away. */
  stored: string | undefined;
  /** What the history tells, as JSON; null for secrets. */
  before: string | null;
  after: string | null;
}

export interface By {
  accountId: string;
  keyName: string | undefined;
  note: string | undefined;
}

export async function writeSettings(db: Db, writes: readonly Write[], by: By & { revision: number }): Promise<void> {
  const { accountId, keyName = null, note = null, revision } = by;
  for (const { key, stored } of writes) {
    if (stored === undefined) await db('settings').where({ key }).delete();
    else
      await db('settings')
        .insert({ key, value: stored, updated_at: db.fn.now(), updated_by: accountId })
        .onConflict('key')
        .merge();
  }
  await db('setting_changes').insert(
    writes.map(({ key, stored, before, after }) => ({
      ...{ id: newId(), key, before, after, note, revision },
      source: stored === undefined ? 'reset' : 'saved',
      account_id: accountId,
      key_name: keyName,
    })),
  );
  await db('server_state').update({ settings_revision: revision });
}

/** Keys that were written after that revision. */
export async function changedSince(db: Db, revision: number): Promise<string[]> {
  return db('setting_changes').where('revision', '>', revision).distinct('key').pluck('key') as Promise<string[]>;
}

export interface ChangeRow {
  id: string;
  key: string;
  before: unknown;
  after: unknown;
  source: 'saved' | 'resource' | 'reset' | 'backup';
  account_id: string | null;
  display_name: string | null;
  key_name: string | null;
  note: string | null;
  revision: number;
  at: Date;
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
