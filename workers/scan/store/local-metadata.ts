import { identifyPeople } from '#areas/people/public.ts';
import { newId } from '#platform/ids.ts';
import type { Draft } from '../group/draft.ts';
import { recordset, type Writing } from './context.ts';
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
  externalIds?: Record<string, string> | undefined;
}

/** A name that Postgres takes. */
const storable = (name: string): string => name.slice(0, 200).replaceAll('\0', '').toWellFormed();

function peopleOf({ id, draft: { nfo } }: Described): Person[] {
  const person = (
    role: string,
    name: string,
    more: Pick<Person, 'character' | 'externalIds'> = { character: undefined },
  ) => ({
    item_id: id,
    role,
    name: storable(name),
    ...more,
  });
  const all = [
    ...(nfo?.actors ?? []).map((actor) =>
      person('actor', actor.name, { character: actor.character?.slice(0, 200), externalIds: actor.ids }),
    ),
    ...(nfo?.directors ?? []).map((name) => person('director', name)),
    ...(nfo?.writers ?? []).map((name) => person('writer', name)),
    ...(nfo?.credits ?? []).map(({ role, name }) => person(role, name)),
  ];
  return all.map((one, position) => ({ ...one, position }));
}

async function writePeople({ db }: Writing, described: readonly Described[]): Promise<void> {
  const people = described.flatMap(peopleOf);
  if (people.length === 0) return;
  const ids = await identifyPeople(db, people);
  const credited = people.flatMap(({ externalIds: _ids, ...person }, at) =>
    ids[at] === undefined ? [] : [{ ...person, id: newId(), person_id: ids[at] }],
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
    [recordset(credited)],
  );
}
