import type { Knex } from 'knex';
import { buildIndex } from '../build-index.ts';

/**
 * What search reads: one document for each item, person and studio. Triggers note what changed, and one function writes
 * the documents when the transaction commits, so that a row is found as soon as it is listed, whoever writes it.
 */
export async function before(db: Knex): Promise<void> {
  await buildIndex(db, 'credits_characters', `credits using gin ((' ' || foyer_fold("character")) gin_trgm_ops)`);
}

export async function up(db: Knex): Promise<void> {
  await db.raw(WORDS);
  await db.raw(VECTORS);
  await db.raw(TABLES);
  await db.raw(WANTED);
  await db.raw(SETTLE);
  await db.raw(NOTES);
}

// Scripts that are written without blanks: Thai, Lao, Burmese, Khmer, kana and Han characters.
const CLOSE =
  '\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff';
const MARKS = '[[:punct:][:space:][:cntrl:]$+<=>^`|~]+';

const WORDS = `
  -- words in lower case without accents and marks, one blank between two of them
  create function foyer_search_plain(value text) returns text language sql immutable parallel safe as $$
    select coalesce(nullif(btrim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(f.folded,
        '[''’ʼ]((s|t|d|m|re|ve|ll)\\M)', '\\1', 'g'), '[・]', '', 'g'), '[&+]', ' and ', 'g'),
        '${MARKS}' collate "und-x-icu", ' ', 'g')), ''), btrim(f.folded))
    from (select foyer_fold(normalize(coalesce(value, ''), nfkc)) as folded) f
  $$;

  -- the words of a text in order. Scripts without blanks are cut into pieces of two characters; with tail, the last
  -- character of a run is a piece too
  create function foyer_search_tokens(value text, tail boolean) returns text[] language plpgsql immutable parallel safe as $$
    declare plain text := foyer_search_plain(value); made text[] := '{}'; word text; n int;
    begin
      if plain !~ '[${CLOSE}]' then
        return string_to_array(plain, ' ');
      end if;
      foreach word in array string_to_array(btrim(regexp_replace(plain, '([${CLOSE}]+)', ' \\1 ', 'g')), ' ') loop
        n := length(word);
        continue when n = 0;
        if n = 1 or word !~ '^[${CLOSE}]' then
          made := made || word;
        else
          made := made || array(select substr(word, i, 2) from generate_series(1, n - 1) i);
          if tail then
            made := made || substr(word, n, 1);
          end if;
        end if;
      end loop;
      return made;
    end $$;

  -- the value of a roman number up to 39, as digits
  create function foyer_search_roman(word text) returns text language sql immutable parallel safe as $$
    select case when word ~ '^[ivx]{1,7}$' then array_position(array['i','ii','iii','iv','v','vi','vii','viii','ix','x','xi','xii',
      'xiii','xiv','xv','xvi','xvii','xviii','xix','xx','xxi','xxii','xxiii','xxiv','xxv','xxvi','xxvii','xxviii','xxix','xxx',
      'xxxi','xxxii','xxxiii','xxxiv','xxxv','xxxvi','xxxvii','xxxviii','xxxix'], word)::text end
  $$;

  -- articles and conjunctions, which a question may leave out
  create function foyer_search_optional() returns text[] language sql immutable parallel safe as $$
    select array['the','a','an','and','der','die','das','den','dem','des','ein','eine','einen','und','le','la','les','un','une',
      'l','et','el','los','las','una','y','il','lo','gli','uno','het','de','een','en','os','as','um','uma','ett','det','och','og']
  $$;

  -- what two titles have in common that count as equal: no articles and conjunctions, numbers as digits
  create function foyer_search_bare(tokens text[]) returns text language sql immutable parallel safe as $$
    select left(coalesce(string_agg(coalesce(foyer_search_roman(word), word), ' ' order by place)
        filter (where word <> all(foyer_search_optional())),
      string_agg(coalesce(foyer_search_roman(word), word), ' ' order by place), ''), 200)
    from unnest(tokens) with ordinality as one(word, place)
  $$;
`;

const VECTORS = `
  create function foyer_search_vector(tokens text[], weight text) returns tsvector language sql immutable parallel safe as $$
    select coalesce(string_agg('''' || replace(replace(left(one.word, 100), '\\', '\\\\'), '''', '''''') || ''':'
        || least(one.place, 16000) || weight, ' '), '')::tsvector
    from (select word, place from unnest(tokens[1:1500]) with ordinality as own(word, place)
      union all select foyer_search_roman(word), place from unnest(tokens[1:1500]) with ordinality as own(word, place)
        where word ~ '^[ivx]+$' and foyer_search_roman(word) is not null) one
    where one.word <> ''
  $$;

  -- neighbours written as one word, as people write spiderman, and initials without dots, such as swat
  create function foyer_search_joined(tokens text[]) returns text[] language sql immutable parallel safe as $$
    select array(
      select t.word || tokens[t.place + 1] from unnest(tokens) with ordinality as t(word, place)
        where t.place < cardinality(tokens) and t.word !~ '[${CLOSE}]' and length(t.word || tokens[t.place + 1]) between 3 and 30
      union select replace(run[2], ' ', '')
        from regexp_matches(array_to_string(tokens, ' '), '(^| )([[:alnum:]]( [[:alnum:]])+)( |$)', 'g') run)
  $$;

  -- the stemmer of a language; null where Postgres has none
  create function foyer_search_config(language text) returns regconfig language sql immutable parallel safe as $$
    select case lower(split_part(language, '-', 1)) when 'en' then 'english' when 'de' then 'german' when 'fr' then 'french'
      when 'es' then 'spanish' when 'it' then 'italian' when 'nl' then 'dutch' when 'pt' then 'portuguese' when 'sv' then 'swedish'
      when 'da' then 'danish' when 'nb' then 'norwegian' when 'no' then 'norwegian' when 'nn' then 'norwegian' when 'fi' then 'finnish'
      when 'ru' then 'russian' when 'hu' then 'hungarian' when 'ro' then 'romanian' when 'tr' then 'turkish' end::regconfig
  $$;

  create function foyer_search_stems(tokens text[], config regconfig, weight "char") returns tsvector
    language sql immutable parallel safe as $$
    select case when config is null or tokens = '{}' then ''::tsvector
      else setweight(to_tsvector(config, array_to_string(tokens[1:1500], ' ')), weight) end
  $$;
`;

const TABLES = `
  create table search_documents (
    id uuid primary key,
    kind text not null check (kind in ('item', 'person', 'studio')),
    -- nil of people, whom no library owns
    library_id uuid not null,
    -- of items as lists show it
    type text not null,
    -- how much it is likely to be wanted, whatever the question
    weight real not null,
    -- the title by which equal ones are known, and those of other titles
    bare text collate "C" not null, alts text[] not null default '{}',
    -- a blank and the words of all titles
    names text not null,
    title_words tsvector not null, words tsvector not null,
    -- of an item: the highest age of itself and its parents, and its labels
    age int, labels int[] not null default '{}'
  ) with (fillfactor = 90);
  create index search_documents_bare on search_documents (bare, weight desc);
  create index search_documents_weight on search_documents (library_id, weight desc, id);
  create index search_documents_titles on search_documents using gin (title_words);
  create index search_documents_words on search_documents using gin (words);
  create index search_documents_alike on search_documents using gin (bare gin_trgm_ops);

  -- the language and version with which the documents of a library were written; nil has those of people
  create table search_indexes (
    library_id uuid primary key, language text not null, version int not null default 0
  );
  create unlogged table search_due (
    txid bigint not null default foyer_txid(), id uuid not null, kind text not null, primary key (txid, id)
  );
  create unlogged table search_marks (txid bigint primary key default foyer_txid());
`;

const WANTED = `
  create function foyer_search_items(these uuid[]) returns setof search_documents language sql stable set enable_seqscan = off as $$
    with found as materialized (
      select i.id, i.library_id, coalesce(i.own_type, i.type) as type, i.rating, i.labels, i.type as base,
        greatest(i.age_years, p.age_years, g.age_years) as age,
        foyer_search_tokens(i.title, true) as titles,
        case when i.original_title <> i.title then foyer_search_tokens(i.original_title, true) else '{}' end as originals,
        foyer_search_tokens(concat_ws(' ', p.title, g.title, (
          select string_agg(one ->> 'name', ' ') from (
            select value as one from jsonb_array_elements(case when jsonb_typeof(i.details -> 'artists') = 'array' then i.details -> 'artists' else '[]' end)
            union all select value from jsonb_array_elements(case when jsonb_typeof(i.details -> 'authors') = 'array' then i.details -> 'authors' else '[]' end)) named),
          (select string_agg(w.name, ' ') from (select n.name from credits c join people n on n.id = c.person_id
            where c.item_id = i.id order by c.position, c.id limit 30) w)), true) as near,
        foyer_search_tokens(concat_ws(' ', i.year, (select string_agg(t.name, ' ') from item_tags t where t.item_id = i.id
          and t.kind in ('genre', 'tag', 'studio', 'network', 'collection'))), true) as tags,
        foyer_search_tokens(left(concat_ws(' ', i.tagline, i.overview), 4000), true) as about,
        foyer_search_config((select x.language from search_indexes x where x.library_id = i.library_id)) as config
      from items i left join items p on p.id = i.parent_id left join items g on g.id = i.grandparent_id
      where i.id = any(these) and i.trashed_at is null and i.extra_of is null)
    select f.id, 'item', f.library_id, f.type,
      (case when f.base in ('season', 'episode', 'track', 'photo', 'lesson', 'section', 'program') then 0.2 else 0.5 end
        + coalesce(f.rating, 0) * 0.04)::real,
      foyer_search_bare(f.titles), case when f.originals = '{}' then '{}' else array[foyer_search_bare(f.originals)] end,
      ' ' || array_to_string(f.titles || f.originals, ' '), t.title, t.title
        || foyer_search_vector(f.near, 'B') || foyer_search_vector(f.tags, 'C') || foyer_search_vector(f.about, 'D')
        || foyer_search_stems(f.titles || f.originals, f.config, 'A') || foyer_search_stems(f.tags, f.config, 'C')
        || foyer_search_stems(f.about, f.config, 'D'),
      f.age, f.labels
    from found f cross join lateral (select foyer_search_vector(f.titles, 'A') || foyer_search_vector(f.originals, 'A')
      || foyer_search_vector(foyer_search_joined(f.titles), 'A') as title) t
  $$;

  create function foyer_search_named(these uuid[]) returns setof search_documents language sql stable set enable_seqscan = off as $$
    select n.id, n.kind, n.library_id, n.kind, least(0.9, 0.3 + 0.1 * ln(1 + coalesce(c.items, 0)))::real,
      foyer_search_bare(n.names), n.others, ' ' || array_to_string(n.names || n.aliases, ' '), t.title, t.title, null::int, '{}'::int[]
    from (
      select p.id, 'person' as kind, '00000000-0000-0000-0000-000000000000'::uuid as library_id,
        foyer_search_tokens(p.name, true) as names,
        array(select foyer_search_bare(foyer_search_tokens(one, true)) from unnest(p.aliases) as one) as others,
        foyer_search_tokens(array_to_string(p.aliases, ' '), true) as aliases
      from people p where p.id = any(these)
      union all select s.id, 'studio', s.library_id, foyer_search_tokens(s.name, true), '{}', '{}' from studios s where s.id = any(these)) n
      left join credited_counts c on c.owner_id = n.id and c.class_id = 0
      cross join lateral (select foyer_search_vector(n.names, 'A') || foyer_search_vector(n.aliases, 'A')
        || foyer_search_vector(foyer_search_joined(n.names), 'A') as title) t
  $$;
`;

const SETTLE = `
  -- writes the documents of these items, people or studios, and deletes those that have none
  create function foyer_search_write(these uuid[], of_kind text) returns void language plpgsql set enable_seqscan = off as $$ begin
    with wanted as materialized (
      select * from foyer_search_items(these) where of_kind = 'item'
      union all select * from foyer_search_named(these) where of_kind <> 'item'),
    gone as (
      delete from search_documents d where d.id = any(these) and not exists (select from wanted w where w.id = d.id))
    insert into search_documents as d
      select w.* from wanted w order by w.id
    on conflict (id) do update set kind = excluded.kind, library_id = excluded.library_id, type = excluded.type,
      weight = excluded.weight, bare = excluded.bare, alts = excluded.alts, names = excluded.names,
      title_words = excluded.title_words, words = excluded.words, age = excluded.age, labels = excluded.labels
    where (d.library_id, d.type, d.weight, d.bare, d.alts, d.names, d.words, d.age, d.labels) is distinct from
      (excluded.library_id, excluded.type, excluded.weight, excluded.bare, excluded.alts, excluded.names, excluded.words,
        excluded.age, excluded.labels);
  end $$;

  create function foyer_search_settle() returns trigger language plpgsql set enable_seqscan = off as $$
    declare these uuid[]; of_kind text;
    begin
      foreach of_kind in array array['item', 'person', 'studio'] loop
        loop
          with taken as (
            delete from search_due where txid = foyer_txid() and id in (
              select id from search_due where txid = foyer_txid() and kind = of_kind order by id limit 2000)
            returning id)
          select array_agg(id) into these from taken;
          exit when these is null;
          perform foyer_search_write(these, of_kind);
        end loop;
      end loop;
      delete from search_marks where txid = foyer_txid();
      return null;
    end $$;
  create constraint trigger search_settle after insert on search_marks deferrable initially deferred
    for each row execute function foyer_search_settle();

  -- what every source of documents calls: these rows of a kind changed
  create function foyer_search_note(ids uuid[], of_kind text) returns void language plpgsql as $$ begin
    insert into search_due (id, kind) select distinct one.id, of_kind from unnest(ids) as one(id) where one.id is not null
      on conflict do nothing;
    if found then
      insert into search_marks default values on conflict do nothing;
    end if;
  end $$;
`;

const NOTES = `
  create function foyer_search_items_made() returns trigger language plpgsql as $$ begin
    perform foyer_search_note((select array_agg(id) from made where extra_of is null), 'item');
    return null;
  end $$;
  create trigger items_search_made after insert on items referencing new table as made
    for each statement execute function foyer_search_items_made();

  create function foyer_search_items_changed() returns trigger language plpgsql set enable_seqscan = off as $$
    declare above uuid[];
    begin
      perform foyer_search_note((select array_agg(n.id) from made n join gone o on o.id = n.id
        where (n.title, n.original_title, n.year, n.tagline, n.overview, n.rating, n.type, n.own_type, n.library_id, n.parent_id,
            n.grandparent_id, n.extra_of, n.trashed_at is null, n.details -> 'artists', n.details -> 'authors') is distinct from
          (o.title, o.original_title, o.year, o.tagline, o.overview, o.rating, o.type, o.own_type, o.library_id, o.parent_id,
            o.grandparent_id, o.extra_of, o.trashed_at is null, o.details -> 'artists', o.details -> 'authors')), 'item');
      update search_documents d set labels = n.labels from made n join gone o on o.id = n.id
        where n.labels <> o.labels and d.id = n.id and d.labels <> n.labels;
      select array_agg(n.id) into above from made n join gone o on o.id = n.id
        where n.title <> o.title or n.age_years is distinct from o.age_years;
      if above is not null then
        perform foyer_search_note(above || array(select id from items where parent_id = any(above)
          union select id from items where grandparent_id = any(above)), 'item');
      end if;
      return null;
    end $$;
  create trigger items_search_changed after update on items referencing old table as gone new table as made
    for each statement execute function foyer_search_items_changed();

  create function foyer_search_gone() returns trigger language plpgsql set enable_seqscan = off as $$ begin
    delete from search_documents where id = any(array(select id from gone));
    return null;
  end $$;
  create trigger items_search_gone after delete on items referencing old table as gone
    for each statement execute function foyer_search_gone();
  create trigger people_search_gone after delete on people referencing old table as gone
    for each statement execute function foyer_search_gone();
  create trigger studios_search_gone after delete on studios referencing old table as gone
    for each statement execute function foyer_search_gone();

  create function foyer_search_parts_changed() returns trigger language plpgsql as $$ begin
    perform foyer_search_note((select array_agg(distinct item_id) from changed), 'item');
    return null;
  end $$;
  create trigger credits_search_added after insert on credits referencing new table as changed
    for each statement execute function foyer_search_parts_changed();
  create trigger credits_search_removed after delete on credits referencing old table as changed
    for each statement execute function foyer_search_parts_changed();
  create trigger credits_search_moved after update on credits referencing new table as changed
    for each statement execute function foyer_search_parts_changed();
  create trigger item_tags_search_added after insert on item_tags referencing new table as changed
    for each statement execute function foyer_search_parts_changed();
  create trigger item_tags_search_removed after delete on item_tags referencing old table as changed
    for each statement execute function foyer_search_parts_changed();
  create trigger item_tags_search_moved after update on item_tags referencing new table as changed
    for each statement execute function foyer_search_parts_changed();

  create function foyer_search_named_made() returns trigger language plpgsql as $$ begin
    perform foyer_search_note((select array_agg(id) from made), tg_argv[0]);
    return null;
  end $$;
  create trigger people_search_made after insert on people referencing new table as made
    for each statement execute function foyer_search_named_made('person');
  create trigger studios_search_made after insert on studios referencing new table as made
    for each statement execute function foyer_search_named_made('studio');
  create trigger studios_search_changed after update on studios referencing new table as made
    for each statement execute function foyer_search_named_made('studio');

  create function foyer_search_people_changed() returns trigger language plpgsql set enable_seqscan = off as $$
    declare these uuid[];
    begin
      select array_agg(n.id) into these from made n join gone o on o.id = n.id where (n.name, n.aliases) is distinct from (o.name, o.aliases);
      if these is not null then
        perform foyer_search_note(these, 'person');
        perform foyer_search_note((select array_agg(distinct c.item_id) from credits c where c.person_id = any(these)), 'item');
      end if;
      return null;
    end $$;
  create trigger people_search_changed after update on people referencing old table as gone new table as made
    for each statement execute function foyer_search_people_changed();
`;
