import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { dayOf } from '#areas/items/public.ts';
import { limitsItems, visibleClasses, visibleLibraryIds } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { type Page, pageOf, parseSort, type SortTable } from '#kernel/page.ts';
import type { Studio, StudiosQuery } from './studios.schemas.ts';
import { listStudiosOf, visibleCounts } from './studios.view.ts';

type Caller = Pick<Call, 'db' | 'who' | 'now' | 'deps'>;

/** A page of the studios of a library with visible items. Throws 404 for an unknown or hidden library. */
export async function listVisibleStudios(
  call: Caller,
  libraryId: string,
  query: StudiosQuery,
): Promise<{ items: Studio[]; page: Page }> {
  const { cursor, limit, sort, ...wanted } = query;
  const { db, who, deps } = call;
  if ((await visibleLibraryIds(db, who, [libraryId])).length === 0) throw notFound();
  const terms = parseSort(sort, sortsOf(call), 'sortName');
  const byCount = terms.some(({ name }) => name === 'itemCount');
  const scope = [
    'listStudios',
    libraryId,
    wanted,
    who.profileId,
    terms.some(({ start }) => start !== undefined) && dayOf(call),
  ];
  const rows = selectStudios(call, libraryId, { ...wanted, byCount }).select('s.id');
  const { items: ids, page } = await pageOf<{ id: string }, string>(db, rows, {
    keys: deps.keys,
    terms,
    cursor,
    limit,
    scope: JSON.stringify(scope),
    idColumn: 's.id',
    toItem: ({ id }) => id,
  });
  return { items: await listStudiosOf(db, who, ids), page };
}

function sortsOf(call: Caller): SortTable {
  const digest = createHash('sha256')
    .update(`${dayOf(call)}|${call.who.profileId}`)
    .digest();
  return {
    sortName: { column: 's.name_folded collate "C"', type: 'text' },
    itemCount: { column: 'n.items', type: 'int' },
    random: { column: 's.shuffle', type: 'real', start: Math.fround(digest.readUInt32BE(0) / 2 ** 32) },
  };
}

interface Wanted extends Pick<StudiosQuery, 'q' | 'kind' | 'minItems'> {
  /** The query has the counts as `n.items`. */
  byCount: boolean;
}

function selectStudios({ db, who }: Caller, libraryId: string, wanted: Wanted): Knex.QueryBuilder {
  const { q, kind, minItems, byCount } = wanted;
  const query = db
    .from('studios as s')
    .join('libraries as l', 'l.id', 's.library_id')
    .where('s.library_id', libraryId)
    .whereNot('l.type', 'photos');
  if (byCount || minItems > 1) {
    // an account that sees all of the library has the counts of class 0, which are in order
    if (limitsItems(who.sees)) query.join(visibleCounts(db, who, libraryId).as('n'), 'n.owner_id', 's.id');
    else query.joinRaw(`join credited_counts n on n.owner_id = s.id and n.class_id = 0 and n.kind = 'studio'`);
    query.where('n.items', '>=', minItems);
  } else {
    query.whereRaw('exists (select from credited_counts cc where cc.owner_id = s.id and cc.class_id = any(?))', [
      visibleClasses(db, who, libraryId),
    ]);
  }
  if (kind !== undefined) query.where('s.kind', kind);
  if (q !== undefined) {
    query.whereRaw(
      `(' ' || s.name_folded like foyer_fold(:start) or (s.name_folded % left(foyer_fold(:q), 100)
        and similarity(s.name_folded, left(foyer_fold(:q), 100)) > 0.4))`,
      { q, start: `% ${q.replace(/[\\%_]/g, '\\$&')}%` },
    );
  }
  return query;
}
