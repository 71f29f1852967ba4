import { findItemSummaries, type ItemSummary, visibleItems } from '#areas/items/public.ts';
import { limitsItems } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { type Page, readCursor, writeCursor } from '#kernel/page.ts';
import { folded, scoreOf } from '#platform/agents/score.ts';
import { itemIds } from '#platform/spine/agent.ts';
import { hasPack } from '#platform/spine/packs.store.ts';
import type { Work } from '#platform/spine/work.ts';
import { type FoundWork, worksAlike, worksByIds, worksByTitle, worksIn } from '#platform/spine/works.store.ts';
import type { LookupQuery, SpineWork } from './spine.schemas.ts';

const NONE = '00000000-0000-0000-0000-000000000000';
const MOST_LOCAL = 500;

interface Scored extends FoundWork {
  score?: number;
  matchedBy?: SpineWork['matchedBy'];
}

/** Works by an id, a title, or the work that they are a part of. Throws 400, 409 `no-pack`. */
export async function lookup(call: Call, query: LookupQuery): Promise<{ items: SpineWork[]; page: Page }> {
  if ([query.id, query.q, query.parentId].filter((one) => one !== undefined).length !== 1)
    throw invalid(['query'], 'exactly_one', 'exactly one of id, q and parentId');
  if (!(await hasPack(call.db))) throw conflict('no-pack', 'No identity pack is loaded');
  const found = sorted(await findWorks(call, query), query);
  const local = await localItems(call, found, query);
  const all = isLimited(call) ? found.filter(({ work }) => (local.get(work) ?? []).length > 0) : found;
  const { keys } = call.deps;
  const { cursor: _cursor, limit, ...rest } = query;
  const scope = `lookupSpine|${call.who.accountId}|${call.who.profileId}|${JSON.stringify(rest)}`;
  const from = query.cursor === undefined ? 0 : Number(readCursor(keys, scope, query.cursor).values[0]);
  const wantsLocal = query.include?.includes('localItems') === true;
  const items = all
    .slice(from, from + limit)
    .map((one) => toWork(one, query, wantsLocal ? (local.get(one.work) ?? []) : []));
  const hasMore = all.length > from + limit;
  const cursor = hasMore ? writeCursor(keys, scope, { values: [from + limit], id: NONE }) : null;
  return { items, page: { cursor, hasMore, ...(from === 0 && { total: all.length }) } };
}

/** Ages of works are not known, so these callers learn only of works that an item visible to them has. */
const isLimited = ({ who }: Call): boolean => who.role === 'child' || who.role === 'guest' || limitsItems(who.sees);

async function findWorks({ db }: Call, { id, q, parentId, kind, year, creator }: LookupQuery): Promise<Scored[]> {
  if (id !== undefined) {
    const matchedBy = id.startsWith('isbn:') ? 'isbn' : 'id';
    return (await worksByIds(db, [id], kind)).map((one) => ({ ...one, score: 1, matchedBy }));
  }
  if (parentId !== undefined) {
    const parents = await worksByIds(db, [parentId]);
    const children = await Promise.all(parents.map(({ work }) => worksIn(db, work)));
    return children.flat().filter(({ work }) => kind === undefined || work.kind === kind);
  }
  const title = q ?? '';
  const exact = await worksByTitle(db, { titles: [title], kind, year });
  const found = exact.length > 0 ? exact : await worksAlike(db, title, kind);
  return found.map((one) => scored(one, { title, year, creator }));
}

interface Named {
  title: string;
  year: number | undefined;
  creator: string | undefined;
}

function scored(one: FoundWork, { title, year, creator }: Named): Scored {
  const { work } = one;
  const aliases = work.aliases.map((alias) => alias.title);
  const by = work.creators.map(({ name }) => name);
  const wanted = {
    type: work.kind,
    title,
    ids: {},
    language: 'en',
    ...(year !== undefined && { year }),
    ...(creator && { by: [creator] }),
  };
  const other = {
    ids: {},
    type: work.kind,
    title: work.title,
    aliases,
    by,
    ...(work.year !== undefined && { year: work.year }),
  };
  const { score } = scoreOf(wanted, work.originalTitle ? { ...other, originalTitle: work.originalTitle } : other);
  const isMain = [work.title, work.originalTitle].some((own) => own !== undefined && folded(own) === folded(title));
  const ofYear = year !== undefined && work.year !== undefined && Math.abs(year - work.year) <= 1;
  return { ...one, score, matchedBy: isMain ? (ofYear ? 'title-year' : 'title') : 'alias' };
}

/** By the given sort; without one the best first, and parts by their place. */
function sorted(all: readonly Scored[], { sort, parentId }: LookupQuery): Scored[] {
  const terms = (sort ?? (parentId === undefined ? '-score' : 'index')).split(',');
  const textOf = ({ work, score }: Scored, name: string): number | string | undefined =>
    ({ score, year: work.year, title: folded(work.title), index: work.parent?.index })[name];
  return [...all].sort((a, b) => {
    for (const term of terms) {
      const [name, sign] = term.startsWith('-') ? [term.slice(1), -1] : [term, 1];
      const [one, other] = [textOf(a, name), textOf(b, name)];
      if (one === other) continue;
      if (one === undefined || other === undefined) return one === undefined ? 1 : -1;
      return one < other ? -sign : sign;
    }
    return 0;
  });
}

/** Items that the caller sees, by work; only where they are needed. */
async function localItems(call: Call, found: readonly Scored[], query: LookupQuery): Promise<Map<Work, ItemSummary[]>> {
  const byWork = new Map<Work, ItemSummary[]>();
  if (found.length === 0 || !(isLimited(call) || query.include?.includes('localItems'))) return byWork;
  const { db, who } = call;
  const ids = found.flatMap(({ work }) =>
    Object.entries(itemIds(work)).map(([provider, value]) => JSON.stringify({ [provider]: value })),
  );
  const rows = (await visibleItems(db, who)
    .whereRaw('i.external_ids @> any(?::jsonb[])', [ids as unknown as string])
    .limit(MOST_LOCAL)
    .select('i.id', 'i.type', 'i.external_ids')) as {
    id: string;
    type: string;
    external_ids: Record<string, string>;
  }[];
  const summaries = await findItemSummaries(
    db,
    who,
    rows.map(({ id }) => id),
  );
  for (const { work } of found) {
    const own = Object.entries(itemIds(work));
    const same = rows.filter(
      (row) =>
        (row.type === work.kind || (row.type === 'audiobook' && work.kind === 'book')) &&
        own.some(([provider, value]) => row.external_ids[provider] === value),
    );
    byWork.set(
      work,
      same.flatMap(({ id }) => summaries.get(id) ?? []),
    );
  }
  return byWork;
}

function toWork({ work, packId, score, matchedBy }: Scored, query: LookupQuery, shown: ItemSummary[]): SpineWork {
  const { former: _former, links, ids, ...rest } = work;
  const inLanguage = query.language && work.aliases.find(({ language }) => language === query.language)?.title;
  return {
    ...(rest as Omit<SpineWork, 'ids' | 'links' | 'pack'>),
    ...{
      ids: ids as SpineWork['ids'],
      title: inLanguage ?? work.title,
      links: (links ?? {}) as Record<string, string>,
    },
    ...(score !== undefined && { score }),
    ...(matchedBy && { matchedBy }),
    pack: packId,
    ...(shown.length > 0 && { localItems: shown }),
  };
}
