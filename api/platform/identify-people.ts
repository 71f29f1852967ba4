import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';

/** Someone whom an agent, a file or an editor credits. */
export interface Credited {
  name: string;
  /** Ids by catalogue. */
  externalIds?: Readonly<Record<string, string>> | undefined;
}

/**
 * Ids of the people who are credited, in the same order: by external id, else by folded name, else new rows. Undefined
 * for those who are blocked. Runs in the transaction of the caller, who locked the library before.
 */
export async function identifyPeople(db: Db, credited: readonly Credited[]): Promise<(string | undefined)[]> {
  const found = await findAll(db, credited);
  if (found.every((one) => one === 'blocked' || (typeof one === 'object' && !one.gains))) return found.map(idOf);
  // new people are made by one transaction at a time, so that two never make the same
  await db.raw(`select pg_advisory_xact_lock(hashtext('foyer.people'))`);
  return createMissing(db, credited, await findAll(db, credited));
}

type Found = { id: string; gains?: Record<string, string> } | 'blocked' | 'unknown';

const idOf = (one: Found): string | undefined => (typeof one === 'object' ? one.id : undefined);

const keyOf = (provider: string, value: string): string => `${provider}:${value}`;

const keysOf = ({ externalIds = {} }: Credited): string[] =>
  Object.entries(externalIds).map(([provider, value]) => keyOf(provider, value));

async function findAll(db: Db, credited: readonly Credited[]): Promise<Found[]> {
  const pairs = credited.flatMap(({ externalIds = {} }) => Object.entries(externalIds));
  const byId = await peopleByIds(db, pairs);
  const blocked = await blockedIds(db, pairs);
  const byName = await candidatesByName(db, [...new Set(credited.map(({ name }) => name))]);
  return credited.map(({ name, externalIds = {} }) => {
    const keys = Object.entries(externalIds).map(([provider, value]) => keyOf(provider, value));
    const id = keys.map((key) => byId.get(key)).find((one) => one !== undefined);
    if (id !== undefined) return { id };
    if (keys.some((key) => blocked.has(key))) return 'blocked';
    const candidates = byName.get(name) ?? [];
    // an unknown id is given only to someone who has none, since a name alone does not make two people one
    const fit = keys.length === 0 ? candidates[0] : candidates.find(({ bare }) => bare);
    if (!fit) return 'unknown';
    return keys.length === 0 ? { id: fit.id } : { id: fit.id, gains: externalIds };
  });
}

type Pairs = readonly (readonly [provider: string, value: string])[];

const columns = (pairs: Pairs): [string[], string[]] => [
  pairs.map(([provider]) => provider),
  pairs.map(([, value]) => value),
];
const AMONG = '(provider, value) in (select * from unnest(?::text[], ?::text[]))';

async function peopleByIds(db: Db, pairs: Pairs): Promise<Map<string, string>> {
  if (pairs.length === 0) return new Map();
  const rows = await db('person_ids').whereRaw(AMONG, columns(pairs)).select('provider', 'value', 'person_id');
  return new Map(rows.map(({ provider, value, person_id }) => [keyOf(provider, value), person_id]));
}

async function blockedIds(db: Db, pairs: Pairs): Promise<Set<string>> {
  if (pairs.length === 0) return new Set();
  const rows = await db('person_blocks').whereRaw(AMONG, columns(pairs)).select('provider', 'value');
  return new Set(rows.map(({ provider, value }) => keyOf(provider, value)));
}

interface Candidate {
  id: string;
  /** Has no external id. */
  bare: boolean;
}

/** People of each name, those with it as an alias last; names that differ only in case or accents are one. */
async function candidatesByName(db: Db, names: readonly string[]): Promise<Map<string, Candidate[]>> {
  const { rows } = await db.raw<{ rows: ({ wanted: string } & Candidate)[] }>(
    `select w.name as wanted, p.id, not exists (select from person_ids o where o.person_id = p.id) as bare
     from (select name, left(foyer_fold(name), 300) as folded from unnest(?::text[]) as given(name)) w
       join person_names n on n.folded = w.folded join people p on p.id = n.person_id
     order by w.name, left(p.name_folded, 300) <> w.folded, p.id`,
    [[...names]],
  );
  return Map.groupBy(rows, ({ wanted }) => wanted);
}

async function createMissing(
  db: Db,
  credited: readonly Credited[],
  found: readonly Found[],
): Promise<(string | undefined)[]> {
  const folded = await foldedNames(db, credited);
  const making = new Making((name) => folded.get(name) ?? name);
  // those with ids first, so that the same name without any is one of them
  const places = [...credited.keys()].sort((a, b) => Number(hasIds(credited[b])) - Number(hasIds(credited[a])));
  const ids: (string | undefined)[] = [];
  for (const at of places) {
    const one = credited[at];
    if (one) ids[at] = making.place(one, found[at] ?? 'unknown');
  }
  await making.write(db);
  return ids;
}

const hasIds = (one: Credited | undefined): boolean => Object.keys(one?.externalIds ?? {}).length > 0;

async function foldedNames(db: Db, credited: readonly Credited[]): Promise<Map<string, string>> {
  const { rows } = await db.raw<{ rows: { name: string; folded: string }[] }>(
    'select distinct name, foyer_fold(name) as folded from unnest(?::text[]) as given(name)',
    [credited.map(({ name }) => name)],
  );
  return new Map(rows.map(({ name, folded }) => [name, folded]));
}

/** New people of one call: equal ones are made once, by an id that they share, else by folded name. */
class Making {
  readonly #fold: (name: string) => string;
  readonly #made = new Map<string, string>();
  readonly #people: { id: string; name: string; externalIds: Readonly<Record<string, string>> }[] = [];
  readonly #gains = new Map<string, Readonly<Record<string, string>>>();

  constructor(fold: (name: string) => string) {
    this.#fold = fold;
  }

  place(one: Credited, found: Found): string | undefined {
    if (found === 'blocked' || (typeof found === 'object' && !found.gains)) return idOf(found);
    const keys = keysOf(one);
    const named = `name:${this.#fold(one.name)}`;
    const known = (keys.length === 0 ? [named] : keys).map((key) => this.#made.get(key)).find((id) => id !== undefined);
    if (known !== undefined) return known;
    const id = this.#add(one, idOf(found));
    for (const key of keys) this.#made.set(key, id);
    if (!this.#made.has(named)) this.#made.set(named, id);
    return id;
  }

  /** Gives the ids to a person without any, once; otherwise they belong to a new person. */
  #add({ name, externalIds = {} }: Credited, bare: string | undefined): string {
    if (bare !== undefined && !this.#gains.has(bare)) {
      this.#gains.set(bare, externalIds);
      return bare;
    }
    const id = newId();
    this.#people.push({ id, name, externalIds });
    return id;
  }

  async write(db: Db): Promise<void> {
    await db.raw(
      `insert into people (id, name, name_folded, external_ids)
       select r.id, r.name, foyer_fold(r.name), r.ids from jsonb_to_recordset(?::jsonb) as r(id uuid, name text, ids jsonb)`,
      [JSON.stringify(this.#people.map(({ id, name, externalIds }) => ({ id, name, ids: externalIds })))],
    );
    await db.raw(
      `update people p set external_ids = p.external_ids || r.ids, updated_at = now()
       from jsonb_to_recordset(?::jsonb) as r(id uuid, ids jsonb) where p.id = r.id and 'externalIds' <> all(p.locked_fields)`,
      [JSON.stringify([...this.#gains].map(([id, ids]) => ({ id, ids })))],
    );
  }
}
