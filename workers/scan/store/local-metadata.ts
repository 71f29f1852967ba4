import { newId } from '#platform/ids.ts';
import type { Draft } from '../group/draft.ts';
import { recordset, rowsOf, type Writing } from './context.ts';
import { nameOf, type Resolved } from './item-rows.ts';

interface Described {
  id: string;
  draft: Draft;
}

/**
 * Writes genres, tags, studios, countries and people from NFO files, if the library prefers local data and the field is
 * not locked.
 */
export async function writeLocalMetadata(
  writing: Writing,
  drafts: readonly Draft[],
  resolved: Resolved,
): Promise<void> {
  if (!writing.library.settings.preferLocal) return;
  const described = drafts.flatMap((draft): Described[] => {
    const id = resolved.ids.get(nameOf(draft));
    return id !== undefined && draft.nfo ? [{ id, draft }] : [];
  });
  if (described.length === 0) return;
  await writeTags(writing, described);
  await writePeople(writing, described);
}

const KINDS = [
  ['genre', 'genres', 'genres'],
  ['tag', 'tags', 'tags'],
  ['studio', 'studios', 'studios'],
  ['country', 'countries', 'countries'],
] as const;

async function writeTags({ db, library }: Writing, described: readonly Described[]): Promise<void> {
  const rows = described.flatMap(({ id, draft }) =>
    KINDS.flatMap(([kind, member, word]) =>
      (draft.nfo?.[member] ?? []).map((name) => ({ item_id: id, kind, word, name: name.slice(0, 200) })),
    ),
  );
  const kinds = described.flatMap(({ id, draft }) =>
    KINDS.filter(([, member]) => draft.nfo?.[member].length).map(([kind, , word]) => ({ item_id: id, kind, word })),
  );
  await db.raw(
    `delete from item_tags t using jsonb_to_recordset(?::jsonb) as r(item_id uuid, kind text, word text), items i
     where t.item_id = r.item_id and t.kind = r.kind and i.id = r.item_id and r.word <> all(i.locked_fields)`,
    [recordset(kinds)],
  );
  await db.raw(
    `insert into item_tags (item_id, library_id, kind, name, name_folded)
     select r.item_id, ?, r.kind, r.name, foyer_fold(r.name) from jsonb_to_recordset(?::jsonb) as r(item_id uuid, kind text, word text, name text)
     join items i on i.id = r.item_id and r.word <> all(i.locked_fields) on conflict do nothing`,
    [library.id, recordset(rows)],
  );
}

interface Person {
  item_id: string;
  name: string;
  role: string;
  character: string | undefined;
  position: number;
}

function peopleOf({ id, draft: { nfo } }: Described): Person[] {
  const person = (role: string, name: string, character?: string) => ({
    item_id: id,
    role,
    name: name.slice(0, 200),
    character,
  });
  const all = [
    ...(nfo?.actors ?? []).map((actor) => person('actor', actor.name, actor.character?.slice(0, 200))),
    ...(nfo?.directors ?? []).map((name) => person('director', name)),
    ...(nfo?.writers ?? []).map((name) => person('writer', name)),
    ...(nfo?.credits ?? []).map(({ role, name }) => person(role, name)),
  ];
  return all.map((one, position) => ({ ...one, position }));
}

async function writePeople({ db }: Writing, described: readonly Described[]): Promise<void> {
  const people = described.flatMap(peopleOf);
  if (people.length === 0) return;
  const ids = await idsOf(
    db,
    people.map((person) => person.name),
  );
  await db.raw(
    `delete from credits c using items i where i.id = c.item_id and i.id = any(?::uuid[]) and 'people' <> all(i.locked_fields)`,
    [[...new Set(people.map((person) => person.item_id))]],
  );
  await db.raw(
    `insert into credits (id, item_id, person_id, role, character, position)
     select r.id, r.item_id, r.person_id, r.role, r.character, r.position
     from jsonb_to_recordset(?::jsonb) as r(id uuid, item_id uuid, person_id uuid, role text, character text, position int)
     join items i on i.id = r.item_id and 'people' <> all(i.locked_fields)`,
    [recordset(people.map((person) => ({ ...person, id: newId(), person_id: ids.get(person.name) })))],
  );
}

/** Ids of people by name, creating missing ones; names that differ only in case or accents are one person. */
async function idsOf(db: Writing['db'], names: readonly string[]): Promise<Map<string, string>> {
  const wanted = [...new Set(names)].map((name) => ({ id: newId(), name }));
  const found = await rowsOf<{ id: string; name: string }>(
    db,
    `with wanted as (select r.id, r.name, foyer_fold(r.name) as folded from jsonb_to_recordset(?::jsonb) as r(id uuid, name text)),
          firsts as (select distinct on (folded) id, name, folded from wanted order by folded, id),
          known as (select distinct on (p.name_folded) p.id, p.name_folded from people p join firsts f on f.folded = p.name_folded order by p.name_folded, p.id),
          made as (insert into people (id, name, name_folded) select f.id, f.name, f.folded from firsts f
            where not exists (select 1 from known k where k.name_folded = f.folded) returning id, name_folded)
     select w.name, o.id from wanted w join (select id, name_folded from known union all select id, name_folded from made) o on o.name_folded = w.folded`,
    [recordset(wanted)],
  );
  return new Map(found.map((row) => [row.name, row.id]));
}
