import type pg from 'pg';
import { fullVersion } from '#areas/server/public.ts';
import { putAsideAs } from '#platform/backup/put-aside.ts';
import { newId } from '#platform/ids.ts';
import { inTransaction, quoted } from './connection.ts';
import { exchange } from './exchange.ts';
import { shut } from './fence.ts';
import type { RestoreRecord } from './record.ts';
import { carryOver } from './restart.ts';
import type { Restoring } from './work.ts';

const KEPT_DAYS = 7;

/**
 * Shuts everyone out and replaces `public` by the schema, in one transaction with its record. Undefined when it was
 * cancelled at the last moment.
 */
export async function switchOver(work: Restoring, schema: string): Promise<RestoreRecord | undefined> {
  const { client, record } = work;
  if (!(await claim(client, record))) return undefined;
  await shut(client);
  const replaced = newId();
  return inTransaction(client, async () => {
    await carryOver(client, schema);
    await noteReplaced(work, { schema, replaced });
    await noteRestore(client, record, schema);
    await client.query('delete from graphile_worker._private_jobs'); // pending jobs are outdated
    await exchange(client, schema, putAsideAs(replaced));
    const { rows } = await client.query<RestoreRecord>(
      `update foyer_restore.restores set phase = 'reopening', switched_at = clock_timestamp(), replaced_backup_id = $2
        where id = $1 returning *`,
      [record.id, replaced],
    );
    return rows[0];
  });
}

/** From here on it cannot be cancelled. */
async function claim(client: pg.Client, { id, job_id: job }: RestoreRecord): Promise<boolean> {
  const { rowCount } = await client.query(
    `update foyer_restore.restores set state = 'switching', phase = 'switching', progress = 0.95 where id = $1
       and exists (select from public.jobs where id = $2 and not cancel_requested and state in ('waiting', 'active'))`,
    [id, job],
  );
  return rowCount === 1;
}

/** Records the live database as a backup stored in Postgres itself, which can be restored to go back. */
async function noteReplaced(
  { client, record, keys, config }: Restoring,
  made: { schema: string; replaced: string },
): Promise<void> {
  const at = quoted(made.schema);
  await client.query(`delete from ${at}.backups where id = $1 and state = 'replaced'`, [record.backup_id]);
  await client.query(
    `insert into ${at}.backups (id, state, trigger, place_id, server_id, server_name, server_version, schema_version, tables, rows,
         database_bytes, size_bytes, snapshot_at, objects_mode, keep_until, by_account_id, started_at, finished_at)
     select $1, 'replaced', 'before-restore', s.place_id, $2, coalesce(n.value #>> '{}', $3), $4,
            (select max(name) from public.knex_migrations), c.tables, c.rows, c.bytes, c.bytes, now(), 'kept',
            now() + make_interval(days => ${KEPT_DAYS}), $5, now(), now()
       from public.backup_settings s left join public.settings n on n.key = 'server.name',
            (select count(*)::int as tables, coalesce(sum(greatest(reltuples, 0)), 0)::bigint as rows,
                    coalesce(sum(pg_total_relation_size(oid)), 0)::bigint as bytes
               from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r') c`,
    [made.replaced, keys.serverId, config.serverName, fullVersion, record.account_id],
  );
}

/** The job and the account that requested the restore, which the restored database does not know. */
async function noteRestore(
  client: pg.Client,
  { id, job_id: job, backup_id: backupId, account_id: who }: RestoreRecord,
  schema: string,
): Promise<void> {
  const at = quoted(schema);
  await client.query(
    `insert into ${at}.jobs (id, kind, queue, state, progress, target, by_account_id, cause, created_at, started_at, finished_at)
     select id, kind, queue, 'completed', 1, target, by_account_id, cause, created_at, started_at, now() from public.jobs where id = $1`,
    [job],
  );
  await client.query(
    `insert into ${at}.audit_log (id, account_id, action, details) values ($1, $2, 'backup.restored', $3)`,
    [newId(), who, JSON.stringify({ backupId, restoreId: id })],
  );
}
