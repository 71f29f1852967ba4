import type { Knex } from 'knex';

/**
 * Pictures as ImageRef has them (area Artwork): bytes lie in `foyer-artwork` under their SHA-256. Rows go with the profile
 * or library that owns them.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table images (
      id uuid primary key, kind text not null, owner_kind text not null, owner_id uuid not null,
      source text not null, sha256 text not null, mime text not null, size_bytes bigint not null,
      width int not null, height int not null, blurhash text not null, dominant text not null,
      animated boolean not null default false, version int not null default 1,
      added_by uuid, added_at timestamptz not null default now()
    );
    create index images_owner on images (owner_kind, owner_id);
    create index images_sha256 on images (sha256);
    create function images_forget_owner() returns trigger language plpgsql as $$
      begin
        delete from images where owner_kind = tg_argv[0] and owner_id = old.id;
        return null;
      end $$;
    create trigger images_of_profiles after delete on profiles for each row execute function images_forget_owner('profile');
    create trigger images_of_libraries after delete on libraries for each row execute function images_forget_owner('library');
  `);
}
