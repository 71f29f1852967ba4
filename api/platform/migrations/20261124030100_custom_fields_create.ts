import type { Knex } from 'knex';

/** Fields that an admin added to items, and their values in one typed table with an index for each column. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table custom_fields (
      id uuid primary key,
      -- deleted ones keep theirs until they are purged
      key text not null unique,
      label text not null, description text,
      kind text not null check (kind in ('text', 'long-text', 'number', 'boolean', 'date', 'choice', 'choices', 'url',
        'duration', 'rating', 'person', 'item')),
      -- as they are shown, owner-made types too
      item_types text[] not null,
      -- null is every library
      library_ids uuid[],
      options jsonb not null default '[]',
      unit text, min double precision, max double precision, decimals int, max_length int, target_types text[],
      required boolean not null default false, default_value jsonb,
      audience text not null default 'everyone' check (audience in ('everyone', 'editors')),
      editable_by text not null default 'editors' check (editable_by in ('editors', 'viewers')),
      in_filter boolean not null default true, in_sort boolean not null default false,
      in_facets boolean not null default false, in_search boolean not null default false,
      in_lists boolean not null default false,
      group_name text, position int not null default 0,
      index_state text not null default 'none' check (index_state in ('none', 'building', 'ready')),
      value_count bigint not null default 0,
      deleted_at timestamptz,
      managed_by jsonb, revision bigint not null default 1,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now()
    );
    create table custom_values (
      item_id uuid not null references items on delete cascade,
      field_id uuid not null references custom_fields on delete cascade,
      -- one row for each of several choices
      place smallint not null default 0,
      text_value text,
      -- folded, and short enough for an index
      text_key text,
      number_value double precision, date_value date, bool_value boolean, ref_id uuid,
      primary key (item_id, field_id, place)
    );
    create index custom_values_text on custom_values (field_id, text_key, item_id) where text_key is not null;
    create index custom_values_number on custom_values (field_id, number_value, item_id) where number_value is not null;
    create index custom_values_date on custom_values (field_id, date_value, item_id) where date_value is not null;
    create index custom_values_bool on custom_values (field_id, bool_value, item_id) where bool_value is not null;
    create index custom_values_ref on custom_values (ref_id, field_id, item_id) where ref_id is not null;

    create function custom_forget_targets() returns trigger language plpgsql as $$
      begin
        delete from custom_values where ref_id in (select id from gone);
        return null;
      end $$;
    create trigger custom_values_of_items after delete on items referencing old table as gone
      for each statement execute function custom_forget_targets();
    create trigger custom_values_of_people after delete on people referencing old table as gone
      for each statement execute function custom_forget_targets();
  `);
}
