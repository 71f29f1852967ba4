import type { Knex } from 'knex';
import { findPeople, onlyVisiblePeople } from '#areas/people/public.ts';
import { listStudiosOf, visibleCounts } from '#areas/studios/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import type { Understood } from '../question/understand.ts';
import type { Matched, SearchHit } from '../search.schemas.ts';
import { candidates, PEOPLE, type Scope, type Way } from './candidates.view.ts';
import type { Scored } from './item-hits.view.ts';
import { marksIn, type Wanted } from './marks.ts';

export type NamedKind = 'person' | 'studio';

interface Reading {
  call: Call;
  db: Db;
  understood: Understood;
  /** Of one library only. */
  libraryId?: string | undefined;
}

/** People or studios with visible items that fit the question, as rows of `id` and `score`. */
export function foundNamed(
  { call, db, understood, libraryId }: Reading,
  kind: NamedKind,
  width: { cap: number; way: Way },
): Knex.QueryBuilder {
  const { who } = call;
  const libraryIds = kind === 'person' ? [PEOPLE] : understood.libraries.map(({ id }) => id);
  const scope: Scope = { db, who, kinds: [kind], libraryIds };
  const rows = db.from(candidates(scope, understood.terms, width).as('d')).select('d.id', 'd.score');
  if (kind === 'studio') return rows.join(visibleCounts(db, who, libraryId).as('v'), 'v.owner_id', 'd.id');
  return rows.join('people as p', 'p.id', 'd.id').modify((query) => onlyVisiblePeople(query, { db, who }, libraryId));
}

/** The best of them with their number. */
export async function bestNamed(
  reading: Reading,
  kind: NamedKind,
  width: { cap: number; way: Way; limit: number },
): Promise<{ rows: Scored[]; total: number }> {
  const rows: (Scored & { total: number })[] = await reading.db
    .queryBuilder()
    .from(foundNamed(reading, kind, width).as('f'))
    .select('f.id', 'f.score', reading.db.raw('count(*) over ()::int as total'))
    .orderBy([{ column: 'f.score', order: 'desc' }, { column: 'f.id' }])
    .limit(width.limit);
  return { rows, total: rows[0]?.total ?? 0 };
}

/** Hits of people, with what matched. */
export async function peopleHits(
  { db, who }: Pick<Call, 'db' | 'who'>,
  rows: readonly Scored[],
  wanted: Wanted,
): Promise<SearchHit[]> {
  const found = await findPeople(
    db,
    who,
    rows.map(({ id }) => id),
  );
  return rows.flatMap(({ id, score }): SearchHit[] => {
    const person = found.get(id);
    if (!person) return [];
    const { marks } = marksIn(person.name, wanted);
    return [
      {
        ...{ kind: 'person', id, title: person.name, score },
        ...(person.knownFor && { subtitle: person.knownFor }),
        ...(person.portrait && { image: person.portrait }),
        ...namedMatch(person.name, marks),
      },
    ];
  });
}

/** Hits of studios. */
export async function studioHits(
  { db, who }: Pick<Call, 'db' | 'who'>,
  rows: readonly Scored[],
  wanted: Wanted,
): Promise<SearchHit[]> {
  const studios = await listStudiosOf(
    db,
    who,
    rows.map(({ id }) => id),
  );
  const scores = new Map(rows.map(({ id, score }) => [id, score]));
  return studios.map(({ id, name, kind, logo }) => ({
    ...{ kind: 'studio', id, title: name, subtitle: kind, score: scores.get(id) ?? 0 },
    ...(logo && { image: logo }),
    ...namedMatch(name, marksIn(name, wanted).marks),
  }));
}

function namedMatch(
  text: string,
  marks: ReturnType<typeof marksIn>['marks'],
): { matched: Matched; highlight?: SearchHit['highlight'] } {
  if (marks.length === 0) return { matched: 'alias' };
  return { matched: 'title', highlight: [{ field: 'name', text, marks }] };
}
