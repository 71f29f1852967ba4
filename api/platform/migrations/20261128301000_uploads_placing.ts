import type { Knex } from 'knex';

/** The multipart upload that writes the file into a library on S3; that of a killed worker is aborted by the next try. */
export async function up(db: Knex): Promise<void> {
  await db.raw('alter table uploads add column placing_parts text');
}
