import type pg from 'pg';

/** Tables that no backup contains, with the reason. Every other table of the schema `public` is included. */
export const keptOut: Readonly<Record<string, string>> = {
  knex_migrations: 'the manifest names the version',
  knex_migrations_lock: 'temporary',
  events: 'temporary: readers start over after a restore',
  outbox: 'pending events are sent before, or are outdated',
  rights_told: 'temporary: what event readers were notified of',
  catalogue_answers: 'a cache: catalogues are queried again',
  jobs: 'pending jobs are outdated',
  job_attempts: 'with jobs',
  job_counts: 'counted again',
  credited_due: 'temporary: empty between transactions',
  credited_marks: 'temporary: empty between transactions',
  search_documents: 'written again after a restore',
  search_indexes: 'with the documents',
  search_due: 'temporary: empty between transactions',
  search_marks: 'temporary: empty between transactions',
  transcript_tracks: 'read again after a restore',
  transcript_due: 'with the tracks',
  transcripts: 'with the tracks',
  discover_entries: 'made again by the next refresh',
  discover_lists: 'with their entries',
  discover_details: 'a cache: providers are queried again',
  discover_searches: 'a cache: providers are queried again',
  discover_places: 'noted again at the next use',
  discover_services: 'read again by the next refresh',
  guide_states: 'guides are fetched again after a restore',
  guide_channels: 'with the guides',
  guide_programs: 'with the guides',
  guide_titles: 'with the guides',
  program_reminders: 'name programmes, which get new ids after a restore',
  idempotency_keys: 'responses of finished requests',
  sessions: 'tokens: every sign-in has ended',
  refresh_tokens: 'tokens',
  sign_in_challenges: 'tokens of sign-ins in progress',
  passkey_challenges: 'tokens of sign-ins in progress',
  quick_connects: 'tokens of sign-ins in progress',
  oidc_flows: 'tokens of sign-ins in progress',
  oidc_logouts: 'belongs to ended sign-ins',
  password_resets: 'tokens',
  totp_setups: 'second factors that are not confirmed yet',
  email_confirmations: 'tokens',
  ownership_offers: 'tokens',
  email_messages: 'pending mails are outdated',
  email_digests: 'pending mails are outdated',
  push_subscriptions: 'belongs to ended sign-ins',
  push_messages: 'pending messages are outdated',
  webhook_deliveries: 'pending deliveries are outdated',
  playback_sessions: 'current streams',
  transcode_sessions: 'current streams',
  live_streams: 'current streams',
  live_renditions: 'current streams',
  live_outages: 'with the buffer, which no backup contains',
  playback_synced: 'with current streams',
  spine_packs: 'loaded again from the files of packs',
  spine_works: 'with their packs',
  spine_state: 'checked again',
  backup_places: 'carried over by a restore, which never changes where backups go',
  backup_settings: 'carried over by a restore',
  backups: 'carried over by a restore; the destinations describe their own backups',
  backup_hashes: 'describes the current object store; computed again',
};

/** Kept out of backups, and copied from the live database into the restored one, in this order. */
export const carriedOver = ['backup_places', 'backup_settings', 'backups'] as const;

export interface DumpedTable {
  name: string;
  columns: string[];
}

/** Tables of a backup by name, with their columns except generated ones. */
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
