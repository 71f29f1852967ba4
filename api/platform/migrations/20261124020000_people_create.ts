import type { Knex } from 'knex';

/**
 * What is known of people, the names and external ids by which they are found, the ids that merges left behind, and
 * favourites; and studios, which tags of kind `studio` name.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table people
      add column sort_name text,
      -- the order of lists
      add column sort_key text generated always as (left(foyer_fold(coalesce(sort_name, name)), 200)) stored,
      add column aliases text[] not null default '{}',
      add column birthday date, add column deathday date, add column birthplace text,
      add column biography text, add column homepage text,
      -- ids that a merge brought beside those of external_ids: [{provider, value}]
      add column further_ids jsonb not null default '[]',
      add column locked_fields text[] not null default '{}',
      add column refreshed_at timestamptz,
      -- since when no item credits the person, as people.tidy found
      add column uncredited_since timestamptz,
      add column shuffle real not null default random(),
      add column revision bigint not null default 1,
      add column updated_at timestamptz not null default now();

    -- names and aliases, for the search
    create table person_names (
      person_id uuid not null references people on delete cascade, folded text not null,
      primary key (person_id, folded)
    );
    create index person_names_folded on person_names (folded);
    create index person_names_words on person_names using gin ((' ' || folded) gin_trgm_ops);
    create index person_names_alike on person_names using gin (folded gin_trgm_ops);

    -- every external id of a person, so that two people never share one
    create table person_ids (
      provider text not null, value text not null,
      person_id uuid not null references people on delete cascade,
      primary key (provider, value)
    );
    create index person_ids_person on person_ids (person_id);
    -- external ids of people that were deleted for good
    create table person_blocks (provider text not null, value text not null, primary key (provider, value));

    -- ids of people that were merged into others; they never end
    create table person_aliases (
      old_id uuid primary key, person_id uuid not null references people on delete cascade
    );
    create index person_aliases_person on person_aliases (person_id);

    create table person_favorites (
      profile_id uuid not null references profiles on delete cascade,
      person_id uuid not null references people on delete cascade,
      notify boolean not null default false,
      -- the profile knows of items that were there by then
      notified_until timestamptz not null default now(), notified_at timestamptz,
      created_at timestamptz not null default now(),
      primary key (profile_id, person_id)
    );
    create index person_favorites_person on person_favorites (person_id);
    create index person_favorites_notify on person_favorites (profile_id, person_id) where notify;

    create function foyer_name_person() returns trigger language plpgsql as $$ begin
      delete from person_names where person_id = new.id;
      insert into person_names (person_id, folded)
        select new.id, left(foyer_fold(one), 300) from unnest(new.name || new.aliases) as one on conflict do nothing;
      return null;
    end $$;
    create trigger people_named after insert or update of name, aliases on people
      for each row execute function foyer_name_person();

    create function foyer_identify_person() returns trigger language plpgsql as $$ begin
      delete from person_ids where person_id = new.id;
      insert into person_ids (provider, value, person_id)
        select distinct one.provider, one.value, new.id from (
          select key, value from jsonb_each_text(new.external_ids)
          union all select e ->> 'provider', e ->> 'value' from jsonb_array_elements(new.further_ids) e) one(provider, value);
      return null;
    end $$;
    create trigger people_identified after insert or update of external_ids, further_ids on people
      for each row execute function foyer_identify_person();

    insert into person_names (person_id, folded)
      select id, left(foyer_fold(name), 300) from people on conflict do nothing;
    insert into person_ids (provider, value, person_id)
      select key, value, id from people, jsonb_each_text(external_ids) on conflict do nothing;

    create table studios (
      id uuid primary key,
      library_id uuid not null references libraries on delete cascade,
      name text not null, name_folded text not null,
      kind text not null check (kind in ('studio', 'network', 'label', 'publisher', 'developer', 'institution')),
      description text, headquarters text, country text, homepage text,
      external_ids jsonb not null default '{}',
      parent_id uuid references studios on delete set null,
      logo_image_id uuid,
      unused_since timestamptz,
      shuffle real not null default random(),
      created_at timestamptz not null default now(),
      unique (library_id, name_folded)
    );
    create index studios_order on studios (library_id, name_folded collate "C", id);
    create index studios_shuffled on studios (library_id, shuffle, id);
    create index studios_parent on studios (parent_id) where parent_id is not null;
    create index studios_external on studios using gin (external_ids jsonb_path_ops);
    create index studios_words on studios using gin ((' ' || name_folded) gin_trgm_ops);

    -- a tag of kind studio always names a record of its library, whoever writes the tag
    create function foyer_studio_of_tag() returns trigger language plpgsql as $$ begin
      select id into new.tag_id from studios where library_id = new.library_id and name_folded = new.name_folded;
      if new.tag_id is null then
        insert into studios (id, library_id, name, name_folded, kind)
          select foyer_new_id(), new.library_id, new.name, new.name_folded, case l.type
            when 'music' then 'label' when 'books' then 'publisher' when 'comics' then 'publisher'
            when 'games' then 'developer' when 'courses' then 'institution' else 'studio' end
          from libraries l where l.id = new.library_id
          on conflict (library_id, name_folded) do update set name_folded = excluded.name_folded
          returning id into new.tag_id;
      end if;
      return new;
    end $$;
    -- UUIDv7
    create function foyer_new_id() returns uuid language sql volatile as $$
      select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing
        substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
    $$;
    create trigger item_tags_studio before insert on item_tags for each row
      when (new.kind = 'studio' and new.tag_id is null) execute function foyer_studio_of_tag();

    insert into studios (id, library_id, name, name_folded, kind)
      select foyer_new_id(), t.library_id, min(t.name), t.name_folded, case min(l.type)
        when 'music' then 'label' when 'books' then 'publisher' when 'comics' then 'publisher'
        when 'games' then 'developer' when 'courses' then 'institution' else 'studio' end
      from item_tags t join libraries l on l.id = t.library_id where t.kind = 'studio' group by t.library_id, t.name_folded;
    update item_tags t set tag_id = s.id from studios s
      where t.kind = 'studio' and t.tag_id is null and s.library_id = t.library_id and s.name_folded = t.name_folded;
  `);
}
