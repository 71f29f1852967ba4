import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Lockable } from '../people.schemas.ts';
import type { PersonFacts } from './agents.ts';

/** A person who is refreshed, and the agents to query. */
export interface RefreshedPerson {
  name: string;
  externalIds: Record<string, string>;
  /** Agents of the library with most items of the person, in its order. */
  agents: string[];
  /** Language of that library. */
  language: string | undefined;
}

/** Undefined for a person who is gone. */
export async function refreshedPerson(db: Db, id: string): Promise<RefreshedPerson | undefined> {
  const row = await db('people').where({ id }).first('name', 'external_ids');
  if (!row) return undefined;
  const library = await db
    .from('credited_items as ci')
    .join('visibility_classes as vc', 'vc.id', 'ci.class_id')
    .join('libraries as l', 'l.id', 'vc.library_id')
    .where('ci.owner_id', id)
    .whereNull('l.deleted_at')
    .groupBy('l.id')
    .orderByRaw('count(*) desc, l.id')
    .first<{ settings: { agents?: string[]; language?: string } } | undefined>('l.settings');
  const { agents = [], language } = library?.settings ?? {};
  return { name: row.name, externalIds: row.external_ids, agents, language };
}

/** Days after which facts are old. */
const FRESH_DAYS = 90;

/** People with an id of one of these providers whose facts are old, the oldest first. */
export async function stalePeople(db: Db, limit: number, providers: readonly string[]): Promise<string[]> {
  return db('people')
    .whereRaw(`jsonb_exists_any(external_ids, ?::text[])`, [[...providers]])
    .whereRaw('coalesce(refreshed_at < now() - make_interval(days => ?), true)', [FRESH_DAYS])
    .orderByRaw('refreshed_at nulls first, id')
    .limit(limit)
    .pluck('id') as Promise<string[]>;
}

/** Writes facts of agents over what no person has locked, and notes the refresh. Ids that others hold or that are blocked are left out. */
export async function keepFacts(db: Db, id: string, facts: PersonFacts): Promise<void> {
  const row = await db('people').where({ id }).forUpdate().first('locked_fields', 'external_ids');
  if (!row) return;
  const open = (field: Lockable): boolean => !row.locked_fields.includes(field);
  const { name, aliases, birthday, deathday, birthplace, biography, homepage, externalIds = {} } = facts;
  const days = { birthday, deathday };
  const texts = { birthplace, biography, homepage };
  await db('people')
    .where({ id })
    .update({
      ...(name !== undefined && open('name') && { name, name_folded: db.raw('foyer_fold(?)', [name]) as never }),
      ...(aliases && open('aliases') && { aliases }),
      ...onlyOpen(texts, open),
      ...Object.fromEntries(
        Object.entries(onlyOpen(days, open)).map(([field, day]) => [
          field,
          db.raw('?::date', [day as string]) as never,
        ]),
      ),
      ...(open('externalIds') && { external_ids: JSON.stringify(await gained(db, row, externalIds)) }),
      refreshed_at: db.fn.now() as never,
      updated_at: db.fn.now() as never,
    });
}

function onlyOpen<T extends object>(values: T, open: (field: Lockable) => boolean): Partial<T> {
  return Object.fromEntries(
    Object.entries(values).filter(([field, value]) => value !== undefined && open(field as Lockable)),
  ) as Partial<T>;
}

/** The own ids, and those of new catalogues that no other person has. */
async function gained(
  db: Db,
  { external_ids }: Pick<Row<'people'>, 'external_ids'>,
  ids: Record<string, string>,
): Promise<Record<string, string>> {
  const fresh = Object.entries(ids).filter(([provider]) => external_ids[provider] === undefined);
  const pairs = [fresh.map(([provider]) => provider), fresh.map(([, value]) => value)];
  const taken = await db
    .queryBuilder()
    .from(
      db.raw(
        `(select provider, value from person_ids union select provider, value from person_blocks) as t
         where (provider, value) in (select * from unnest(?::text[], ?::text[]))`,
        pairs,
      ),
    )
    .select<{ provider: string; value: string }[]>('provider', 'value');
  const free = fresh.filter(
    ([provider, value]) => !taken.some((one) => one.provider === provider && one.value === value),
  );
  return { ...external_ids, ...Object.fromEntries(free) };
}
