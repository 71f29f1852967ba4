import type pg from 'pg';

/** What is never in a backup, and why. Every other table of the schema `public` is. */
export const keptOut: Readonly<Record<string, string>> = {
  knex_migrations: 'the manifest names the version',
  knex_migrations_lock: 'of the moment',
  events: 'of the moment: readers begin anew after a restore',
  outbox: 'what waits to be told is told before, or is of days that are gone',
  rights_told: 'of the moment: what readers of events were told',
  jobs: 'what waited is of days that are gone',
  job_attempts: 'with jobs',
  job_counts: 'counted anew',
  idempotency_keys: 'answers of requests that are over',
  sessions: 'tokens: every sign-in is over',
  refresh_tokens: 'tokens',
  sign_in_challenges: 'tokens of sign-ins that are under way',
  passkey_challenges: 'tokens of sign-ins that are under way',
  quick_connects: 'tokens of sign-ins that are under way',
  oidc_flows: 'tokens of sign-ins that are under way',
  oidc_logouts: 'of sign-ins that are over',
  password_resets: 'tokens',
  totp_setups: 'second factors that nobody has confirmed yet',
  email_confirmations: 'tokens',
  ownership_offers: 'tokens',
  email_messages: 'mails that waited are of days that are gone',
  email_digests: 'mails that waited are of days that are gone',
  push_subscriptions: 'of sign-ins that are over',
  push_messages: 'messages that waited are of days that are gone',
  webhook_deliveries: 'deliveries that waited are of days that are gone',
  playback_sessions: 'streams of the moment',
  transcode_sessions: 'streams of the moment',
  playback_synced: 'with streams of the moment',
  backup_places: 'a restore carries them over: it never changes where backups go',
  backup_settings: 'a restore carries them over',
  backups: 'a restore carries them over: what lies at the destinations says it itself',
  backup_hashes: 'of the object store as it is; read again',
};

/** Kept out, and put from the database of now into the restored one, in this order. */
export const carriedOver = ['backup_places', 'backup_settings', 'backups'] as const;

export interface DumpedTable {
  name: string;
  columns: string[];
}

/** Tables of the backup in the order of their names, with the columns that are written (none that Postgres makes itself). */
export async function dumpedTables(client: Pick<pg.ClientBase, 'query'>): Promise<DumpedTable[]> {
  const { rows } = await client.query<DumpedTable>(
    `select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      where n.nspname = 'public' and c.relkind = 'r' and not c.relname = any($1)
      group by c.relname order by c.relname`,
    [Object.keys(keptOut)],
  );
  return rows;
}
