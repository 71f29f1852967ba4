import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- caption services of the broadcast that were found so far: id, kind, language, hearingImpaired
    alter table live_streams add captions jsonb not null default '[]';
  `);
}
