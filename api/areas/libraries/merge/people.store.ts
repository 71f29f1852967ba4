import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { NamedCredit } from '#platform/item-values.ts';

/** Ids of people by the credit that names them, creating missing ones; names that differ only in case or accents are one person. */
export async function peopleOf(db: Db, credits: readonly NamedCredit[]): Promise<Map<string, string>> {
  const wanted = [...new Set(credits.filter((one) => one.personId === undefined).map((one) => one.name))];
  if (wanted.length === 0) return new Map();
  const rows = wanted.map((name) => ({ id: newId(), name: name.slice(0, 200).replaceAll('\0', '').toWellFormed() }));
  const { rows: found } = await db.raw<{ rows: { id: string; name: string }[] }>(
    `with wanted as (select r.id, r.name, foyer_fold(r.name) as folded from jsonb_to_recordset(?::jsonb) as r(id uuid, name text)),
          firsts as (select distinct on (folded) id, name, folded from wanted order by folded, id),
          known as (select distinct on (p.name_folded) p.id, p.name_folded from people p join firsts f on f.folded = p.name_folded order by p.name_folded, p.id),
          made as (insert into people (id, name, name_folded) select f.id, f.name, f.folded from firsts f
            where not exists (select 1 from known k where k.name_folded = f.folded) returning id, name_folded)
     select w.id as name, o.id from wanted w join (select id, name_folded from known union all select id, name_folded from made) o on o.name_folded = w.folded`,
    [JSON.stringify(rows)],
  );
  const byRow = new Map(found.map((row) => [row.name, row.id]));
  return new Map(
    rows.flatMap(({ id }, at) => {
      const person = byRow.get(id);
      return person === undefined ? [] : [[wanted[at] as string, person] as const];
    }),
  );
}

/** The rows of an item's credits, in order. */
export function creditsOf(itemId: string, people: readonly NamedCredit[], ids: ReadonlyMap<string, string>): object[] {
  return people.flatMap(({ name, personId, role, character, job, guest }, position) => {
    const person = personId ?? ids.get(name);
    if (person === undefined) return [];
    const words = { character: character?.slice(0, 200), job: job?.slice(0, 200) };
    return [{ id: newId(), item_id: itemId, person_id: person, role, position, guest, ...words }];
  });
}
