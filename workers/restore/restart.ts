// Resets a restored database before it takes over: no earlier session, job or delivery continues.
import type pg from 'pg';
import { carriedOver, keptOut } from '#platform/backup/tables.ts';
import { quoted } from './connection.ts';

/** Excluded from backups, but not temporary. */
const NOT_EMPTIED = new Set<string>([...carriedOver, 'knex_migrations', 'knex_migrations_lock', 'backup_hashes']);

/**
 * Drops sessions, pending jobs, deliveries and mails (a database that was put aside still has them), ends running
 * scans, and restarts the clocks of grace and purge.
 */
export async function resetState(client: pg.Client, schema: string): Promise<void> {
  const at = quoted(schema);
  const emptied = Object.keys(keptOut).filter((table) => !NOT_EMPTIED.has(table));
  await client.query(`truncate ${emptied.map((table) => `${at}.${quoted(table)}`).join(', ')}`);
  await client.query(
    `update ${at}.scans set state = 'cancelled', finished_at = now(), lease_until = null, lease_holder = null
      where state in ('queued', 'running')`,
  );
  for (const [table, columns] of Object.entries(CLOCKS))
    for (const column of columns)
      await client.query(`update ${at}.${table} set ${column} = now() where ${column} is not null`);
}

/** Times since when rows wait for their final deletion. */
const CLOCKS = {
  items: ['trashed_at', 'missing_since'],
  media_files: ['missing_since'],
} as const;

/**
 * Copies newer data from the live database: keys revoked since, the places of backups, and the positions of sequences,
 * so that no number is used twice.
 */
export async function carryOver(client: pg.Client, schema: string): Promise<void> {
  const at = quoted(schema);
  await client.query(REVOKED.replaceAll('$next', at));
  for (const table of carriedOver.toReversed()) await client.query(`delete from ${at}.${table}`);
  for (const table of carriedOver) await copyAll(client, at, table);
  await keepSequences(client, schema);
}

/** Deleted keys are found in the audit log. */
const REVOKED = `
  update $next.api_keys n set revoked_at = coalesce(gone.at, now())
    from (select id, revoked_at as at from public.api_keys where revoked_at is not null
          union all select (details ->> 'keyId')::uuid, at from public.audit_log where action = 'api-key.revoked'
          union all select k.id, l.at from public.audit_log l
            join $next.api_keys k on k.account_id = (l.details ->> 'userId')::uuid where l.action = 'user.deleted') gone
   where gone.id = n.id and n.revoked_at is null and gone.at > n.created_at`;

async function copyAll(client: pg.Client, at: string, table: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select attname::text as name from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [`public.${quoted(table)}`],
  );
  const columns = rows.map(({ name }) => quoted(name)).join(', ');
  await client.query(`insert into ${at}.${table} (${columns}) select ${columns} from public.${table}`);
}

async function keepSequences(client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string; last: string }>(
    `select s.sequencename::text as name, coalesce(s.last_value, 1)::text as last
       from pg_sequences s join pg_sequences n on n.sequencename = s.sequencename and n.schemaname = $1
      where s.schemaname = 'public' and coalesce(s.last_value, 0) > coalesce(n.last_value, 0)`,
    [schema],
  );
  for (const { name, last } of rows)
    await client.query('select setval($1, $2::bigint)', [`${quoted(schema)}.${quoted(name)}`, last]);
}
