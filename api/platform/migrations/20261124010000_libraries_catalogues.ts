import type { Knex } from 'knex';

/** Keys of catalogues, and their answers for a day. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table catalogue_keys (
      name text primary key,
      -- absent when only a refusal of the key of the environment is noted
      sealed text,
      saved_at timestamptz, saved_by uuid references accounts on delete set null,
      -- when the catalogue refused the key in force, and a mark of that key
      refused_at timestamptz, refused_mark text
    );

    create table catalogue_answers (
      -- SHA-256 of agent, address and request without credentials
      request text primary key,
      agent text not null,
      status int not null,
      body text,
      etag text,
      fetched_at timestamptz not null default now()
    );
    create index catalogue_answers_fetched on catalogue_answers (fetched_at);
  `);
}
