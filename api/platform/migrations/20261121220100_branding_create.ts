import type { Knex } from 'knex';

/** Texts in one row, logos with those they replaced in the last 30 days (area Branding). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table branding (
      one boolean primary key default true check (one),
      revision bigint not null default 1,
      show_name boolean, accent text, background text, sign_in_message text, footer text, links jsonb,
      motion text, min_ms int, alt_main text, alt_loading text,
      declared text not null default '', updated_at timestamptz not null default now()
    );
    insert into branding default values;
    create table branding_logos (
      id uuid primary key, kind text not null, scheme text not null,
      original text not null, made text not null, mime text not null, size_bytes bigint not null,
      width int not null, height int not null, blurhash text not null, animated boolean not null,
      created_at timestamptz not null default now(), created_by uuid, replaced_at timestamptz
    );
    create unique index branding_logos_place on branding_logos (kind, scheme) where replaced_at is null;
    create index branding_logos_replaced on branding_logos (replaced_at) where replaced_at is not null;
  `);
}
