import type { Knex } from 'knex';

/** Pictures of items and people: where each came from, what was chosen, and the items that wait for theirs. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table images
      add column source_url text, add column language text,
      add column palette text[] not null default '{}', add column alpha boolean not null default false,
      -- instructions over the untouched original; width and height are those of the result
      add column focus jsonb, add column crop jsonb, add column rotate int not null default 0,
      -- of the original, once there are instructions
      add column full_width int, add column full_height int,
      -- what it was made from: {path, mtimeMs} of a local picture, {fileId, modifiedMs} of a cover or a frame
      add column origin jsonb,
      -- removed by a person; the row stays so that the same picture is not taken again
      add column discarded boolean not null default false,
      -- a preview, which is no artwork and ends
      add column expires_at timestamptz;

    -- the choice of a person; without a row the choice is automatic
    create table artwork_choices (
      owner_id uuid not null, owner_kind text not null check (owner_kind in ('item', 'person')),
      kind text not null,
      -- in order; empty shows none
      image_ids uuid[] not null,
      locked boolean not null,
      primary key (owner_id, kind)
    );
    create index artwork_choices_images on artwork_choices using gin (image_ids);

    -- items whose pictures are looked for, each until its stage is done
    create table artwork_pending (
      item_id uuid primary key references items on delete cascade,
      library_id uuid not null references libraries on delete cascade,
      stage text not null default 'fetch' check (stage in ('fetch', 'frames', 'mosaic')),
      -- rises when the item changes again while it is worked on
      generation int not null default 1,
      tries int not null default 0,
      due_at timestamptz not null default now()
    );
    create index artwork_pending_due on artwork_pending (library_id, stage, due_at);

    -- made sizes in foyer-artwork-cache, by the SHA-256 of the original and the name of the variant
    create table image_variants (
      sha256 text not null, name text not null, size_bytes int not null,
      used_at timestamptz not null default now(),
      primary key (sha256, name)
    );
    create index image_variants_used on image_variants (used_at);

    create function artwork_forget_owners() returns trigger language plpgsql as $$
      begin
        delete from images where owner_kind = tg_argv[0] and owner_id in (select id from gone);
        delete from artwork_choices where owner_kind = tg_argv[0] and owner_id in (select id from gone);
        return null;
      end $$;
    create trigger images_of_items after delete on items referencing old table as gone
      for each statement execute function artwork_forget_owners('item');
    create trigger images_of_people after delete on people referencing old table as gone
      for each statement execute function artwork_forget_owners('person');

    insert into artwork_pending (item_id, library_id) select id, library_id from items;
  `);
}
