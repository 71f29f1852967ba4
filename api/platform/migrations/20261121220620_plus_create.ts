import type { Knex } from 'knex';

/** The licence, sealed, and what was last told of it (area Plus licence). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table plus_licence (
      one boolean primary key default true check (one),
      sealed text, installed_at timestamptz, installed_by uuid references accounts on delete set null,
      -- the one that a resource declares, by its hash, and since when
      declared_sha256 text, declared_at timestamptz,
      -- state and licence that were last told, and the last notice of its end, in days before it
      told text, noticed int
    );
    insert into plus_licence default values;
  `);
}
