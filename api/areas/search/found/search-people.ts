import type { Knex } from 'knex';
import { visibleCredits } from '#areas/people/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { countUpTo, type Page, pageOf, parseSort, type SortTable } from '#kernel/page.ts';
import type { Db } from '#platform/db.ts';
import { countQuestion, type Understood, understand } from '../question/understand.ts';
import type { PeopleSearchQuery, SearchHit } from '../search.schemas.ts';
import type { Way } from './candidates.view.ts';
import type { Scored } from './item-hits.view.ts';
import { foundNamed, peopleHits } from './named.view.ts';
import { FEW } from './search-items.ts';
import { MOST_MS, within } from './within.ts';

const CAP = 5000;
/** Credits whose character has a name like the question. */
const MOST_CHARACTERS = 2000;
const CHARACTER_SCORE = 1.5;

const sorts: SortTable = {
  score: { column: 'f.score', type: 'double precision', descends: true },
  name: { column: 'p.sort_key collate "C"', type: 'text' },
  itemCount: { column: 'n.items', type: 'int' },
};

interface Answer {
  items: SearchHit[];
  page: Page;
  partial?: true;
}

/** A page of people whose name, alias or character fits a question. */
export async function searchPeoplePage(call: Call, query: PeopleSearchQuery): Promise<Answer> {
  await countQuestion(call);
  const understood = await understand(call, query);
  const { terms } = understood;
  if (!terms.query || understood.libraries.length === 0) return NONE;
  const read = (way: Way): Promise<Answer | undefined> =>
    within(call.db, MOST_MS, (db) => onePage({ ...call, db }, { understood, query, way }));
  const found = await read('found');
  if (!found) return { ...NONE, partial: true };
  if (!terms.near || isEnough(found, query)) return found;
  const near = await read('near');
  return near && near.items.length > 0 ? near : found;
}

/** A later page continues the walk of its first one, whose cursors fit only that. */
const isEnough = ({ items, page }: Answer, { cursor }: PeopleSearchQuery): boolean =>
  cursor === undefined ? (page.total ?? 0) >= FEW : items.length > 0;

const NONE: Answer = { items: [], page: { cursor: null, hasMore: false, total: 0 } };

interface Reading {
  understood: Understood;
  query: PeopleSearchQuery;
  way: Way;
}

async function onePage(call: Call, reading: Reading): Promise<Answer> {
  const { db, who, deps } = call;
  const { cursor, limit, sort, ...rest } = reading.query;
  const found = people(call, reading);
  const total = cursor === undefined ? await countUpTo(db, found) : undefined; // one connection: one after the other
  const { items: rows, page } = await pageOf<Scored, Scored>(db, found, {
    keys: deps.keys,
    terms: parseSort(sort, sorts, '-score'),
    cursor,
    limit,
    scope: JSON.stringify(['searchPeople', rest, reading.way, who.profileId]),
    idColumn: 'p.id',
    toItem: ({ id, score }) => ({ id, score: Number(score) }),
    total: async () => total ?? { total: 0 },
  });
  const { tokens, open } = reading.understood.terms;
  const hits = await peopleHits(call, rows, { tokens, open, near: reading.way === 'near' });
  return { items: await withCharacters(call, hits, reading), page };
}

function people({ db, who, ...call }: Call, { understood, query, way }: Reading): Knex.QueryBuilder {
  const { libraryId, role } = query;
  const named = foundNamed({ call: { db, who, ...call }, db, understood, libraryId }, 'person', { cap: CAP, way });
  const played = characters({ db, who }, understood, libraryId).select(
    'c.person_id as id',
    db.raw('?::float8 as score', [CHARACTER_SCORE]),
  );
  const both = db.queryBuilder().from(db.queryBuilder().unionAll([named, played], true).as('b'));
  const best = both.groupBy('b.id').select('b.id', db.raw('max(b.score) as score'));
  const found = db
    .from(best.as('f'))
    .join('people as p', 'p.id', 'f.id')
    .joinRaw(`join credited_counts n on n.owner_id = p.id and n.class_id = 0`)
    .select('p.id', 'f.score');
  if (role === undefined) return found;
  const credited = visibleCredits(db, who).whereRaw('c.person_id = p.id').where('c.role', role);
  if (libraryId !== undefined) credited.where('v.library_id', libraryId);
  return found.whereExists(credited.select(db.raw('1')));
}

/** Visible credits, as `credits as c`, whose character has all words of the question. */
function characters(
  { db, who }: { db: Db; who: Call['who'] },
  { terms }: Understood,
  libraryId?: string,
): Knex.QueryBuilder {
  const credits = visibleCredits(db, who).limit(MOST_CHARACTERS);
  for (const token of terms.tokens)
    credits.whereRaw(`' ' || foyer_fold(c.character) like ?`, [`% ${token.replace(/[\\%_]/g, '\\$&')}%`]);
  if (libraryId !== undefined) credits.where('v.library_id', libraryId);
  return credits;
}

/** With the role of those whom the name of a character found. */
async function withCharacters(call: Call, hits: SearchHit[], { understood, query }: Reading): Promise<SearchHit[]> {
  const others = hits.filter(({ matched }) => matched === 'alias').map(({ id }) => id);
  if (others.length === 0) return hits;
  const rows: { person_id: string; character: string }[] = await characters(call, understood, query.libraryId)
    .whereRaw('c.person_id = any(?::uuid[])', [others])
    .orderBy(['c.position', 'c.id'])
    .select('c.person_id', 'c.character');
  const roles = new Map(rows.reverse().map(({ person_id, character }) => [person_id, character]));
  return hits.map((hit) => {
    const role = roles.get(hit.id);
    return hit.matched === 'alias' && role ? { ...hit, subtitle: role, matched: 'person' } : hit;
  });
}
