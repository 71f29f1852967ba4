import type { Knex } from 'knex';

/**
 * The documents of items cost less: the stemmer is looked up once for each library, a text of plain ASCII words is only lowered and
 * split, and joined words are made without queries. Every document stays as it was, except for the places of joined words.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(TOKENS);
  await db.raw(JOINED);
  await db.raw(ITEMS);
}

// as in 20261127001000_search_create
const CLOSE =
  '\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff';

const TOKENS = `
  create or replace function foyer_search_tokens(value text, tail boolean) returns text[] language plpgsql immutable parallel safe as $$
    declare plain text; made text[] := '{}'; word text; n int;
    begin
      if value is null or value = '' then
        return made;
      end if;
      if value ~ '^[A-Za-z0-9]+( [A-Za-z0-9]+)*$' then
        return string_to_array(lower(value), ' ');
      end if;
      plain := foyer_fold(normalize(value, nfkc));
      if plain ~ '^[a-z0-9]+( [a-z0-9]+)*$' then
        return string_to_array(plain, ' ');
      end if;
      plain := foyer_search_plain(value);
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
`;

const JOINED = `
  create or replace function foyer_search_joined(tokens text[]) returns text[] language plpgsql immutable parallel safe as $$
    declare made text[] := '{}'; pair text; whole text := array_to_string(tokens, ' ');
    begin
      for at in 1 .. coalesce(cardinality(tokens), 0) - 1 loop
        pair := tokens[at] || tokens[at + 1];
        if length(pair) between 3 and 30 and tokens[at] !~ '[${CLOSE}]' and pair <> all(made) then
          made := made || pair;
        end if;
      end loop;
      if whole ~ '(^| )[[:alnum:]] [[:alnum:]]( |$)' then
        made := made || array(
          select distinct replace(run[2], ' ', '')
          from regexp_matches(whole, '(^| )([[:alnum:]]( [[:alnum:]])+)( |$)', 'g') run
          where replace(run[2], ' ', '') <> all(made));
      end if;
      return made;
    end $$;
`;

const FIELDS: readonly (readonly [field: string, weight: string])[] = [
  ['titles', 'A'],
  ['originals', 'A'],
  ['joined', 'A'],
  ['near', 'B'],
  ['tags', 'C'],
  ['about', 'D'],
];

const ITEMS = `
  create or replace function foyer_search_items(these uuid[]) returns setof search_documents language sql stable set enable_seqscan = off as $$
    with configs as materialized (
      select x.library_id, foyer_search_config(x.language) as config from search_indexes x
      where x.library_id = any(array(select distinct i.library_id from items i where i.id = any(these)))),
    read as materialized (
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
        (select c.config from configs c where c.library_id = i.library_id) as config
      from items i left join items p on p.id = i.parent_id left join items g on g.id = i.grandparent_id
      where i.id = any(these) and i.trashed_at is null and i.extra_of is null),
    found as materialized (
      select r.*, case when cardinality(r.titles) > 1 then foyer_search_joined(r.titles) else '{}' end as joined from read r),
    -- the words of foyer_search_vector, of every field of every item
    words as materialized (
      select f.id, l.field,
        '''' || replace(replace(left(one.word, 100), '\\', '\\\\'), '''', '''''') || ''':' || least(w.place, 16000) || l.weight as lexeme
      from found f
        cross join lateral (values ${FIELDS.map(([field, weight]) => `('${field}', '${weight}', f.${field})`).join(', ')}) as l(field, weight, list)
        cross join lateral unnest(l.list[1:1500]) with ordinality as w(word, place)
        cross join lateral (values (w.word), (case when w.word ~ '^[ivx]+$' then foyer_search_roman(w.word) end)) as one(word)
      where one.word <> ''),
    vectors as materialized (
      select w.id, ${FIELDS.map(([field]) => `coalesce(string_agg(w.lexeme, ' ') filter (where w.field = '${field}'), '')::tsvector as ${field}`).join(', ')}
      from words w group by w.id),
    titled as materialized (
      select v.*, v.titles || v.originals || v.joined as title from vectors v)
    select f.id, 'item', f.library_id, f.type,
      (case when f.base in ('season', 'episode', 'track', 'photo', 'lesson', 'section', 'program') then 0.2 else 0.5 end
        + coalesce(f.rating, 0) * 0.04)::real,
      foyer_search_bare(f.titles), case when f.originals = '{}' then '{}' else array[foyer_search_bare(f.originals)] end,
      ' ' || array_to_string(f.titles || f.originals, ' '), coalesce(v.title, ''),
      coalesce(v.title || v.near || v.tags || v.about, '')
        || foyer_search_stems(f.titles || f.originals, f.config, 'A') || foyer_search_stems(f.tags, f.config, 'C')
        || foyer_search_stems(f.about, f.config, 'D'),
      f.age, f.labels
    from found f left join titled v on v.id = f.id
  $$;
`;
