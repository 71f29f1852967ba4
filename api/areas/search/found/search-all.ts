import type { LibraryRow } from '#areas/items/public.ts';
import { builtInOf } from '#areas/library-types/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { baseOf } from '#platform/own-types.ts';
import { countQuestion, type Understood, understand } from '../question/understand.ts';
import { type AllQuery, isKind, type SearchGroups, type SearchHit } from '../search.schemas.ts';
import { bestTranscripts } from '../transcripts/search-transcripts.ts';
import type { Way } from './candidates.view.ts';
import { collectionHits } from './collections.view.ts';
import { correctedBy } from './corrected.ts';
import { itemHits, type Scored } from './item-hits.view.ts';
import { foundItems, hasConditionsOrTerms, SCORE } from './items.view.ts';
import { bestNamed, type NamedKind, peopleHits, studioHits } from './named.view.ts';
import { programHits } from './programs.view.ts';
import { FEW } from './search-items.ts';
import { MOST_MS, within } from './within.ts';

/** Candidates of each way to find a document. */
const CAP = 1000;
/** The words of films must not delay the rest. */
const TRANSCRIPTS_MS = 150;
const MOST_TRANSCRIPTS = 3;

type Group = SearchGroups['groups'][number];

/** The groups of the search page. */
export async function searchEverything(call: Call, query: AllQuery): Promise<SearchGroups> {
  const began = performance.now();
  await countQuestion(call);
  const understood = await understand(call, query);
  const searching: Searching = { call, understood, query, late: false };
  const [found, transcripts] = await Promise.all([likelyGroups(searching), spoken(searching)]);
  return {
    q: query.q.normalize('NFKC').trim(),
    ...found,
    ...transcripts,
    ...(searching.late && { partial: true }),
    tookMs: Math.round(performance.now() - began),
  };
}

/** The groups; with few hits also those of alike titles, and the spelling that found them. */
async function likelyGroups(searching: Searching): Promise<Pick<SearchGroups, 'groups' | 'corrected'>> {
  const groups = await groupsOf(searching, 'found');
  const total = groups.reduce((sum, group) => sum + group.total, 0);
  if (total >= FEW || !searching.understood.terms.near) return { groups };
  const alike = await groupsOf(searching, 'near');
  const corrected = total === 0 ? correctedBy(searching.query.q, alike[0]?.hits[0]) : undefined;
  return { groups: alike.length > 0 ? alike : groups, ...(corrected && { corrected }) };
}

async function spoken(searching: Searching): Promise<Pick<SearchGroups, 'transcripts'>> {
  const { call, query } = searching;
  if (!query.transcripts) return {};
  const transcripts = await bestTranscripts(call, query, { limit: MOST_TRANSCRIPTS, ms: TRANSCRIPTS_MS });
  searching.late ||= transcripts === undefined;
  return transcripts && transcripts.total > 0 ? { transcripts } : {};
}

interface Searching {
  call: Call;
  understood: Understood;
  query: AllQuery;
  /** Something took too long. */
  late: boolean;
}

async function groupsOf(searching: Searching, way: Way): Promise<Group[]> {
  const [items, people, studios, collections, programs] = await Promise.all([
    itemGroups(searching, way),
    namedGroup(searching, 'person', way),
    namedGroup(searching, 'studio', way),
    collectionGroup(searching),
    programGroup(searching),
  ]);
  return [...items, ...people, ...studios, ...collections, ...programs].sort((a, b) => best(b) - best(a));
}

const best = ({ hits }: Group): number => Math.max(...hits.map(({ score }) => score));

interface TypedRow extends Scored {
  type: string;
  total: number;
}

async function itemGroups(searching: Searching, way: Way): Promise<Group[]> {
  const { call, understood, query } = searching;
  const types = query.kinds?.filter((kind) => !isKind(kind));
  if (!hasConditionsOrTerms(understood) || types?.length === 0) return [];
  const width = { cap: CAP, way, types };
  const rows = await timed(searching, (db) => {
    const found = foundItems({ ...call, db }, understood, width).select('i.id', 'd.type', db.raw(`${SCORE} as score`));
    const ranked = db
      .from(found.as('f'))
      .select(
        'f.*',
        db.raw('row_number() over (partition by f.type order by f.score desc, f.id) as place'),
        db.raw('count(*) over (partition by f.type)::int as total'),
      );
    const first = db.queryBuilder().from(ranked.as('r')).where('r.place', '<=', query.perGroup);
    if (call.who.restrictions.liveTv === 'deny') first.whereNotIn('r.type', ['channel', 'program']);
    return first.orderBy([{ column: 'r.score', order: 'desc' }, { column: 'r.id' }]).select<TypedRow[]>('r.*');
  });
  const hits = await itemHits(call, rows ?? [], wantedOf(understood, way));
  const found = new Map(hits.map((hit) => [hit.id, hit]));
  return [...Map.groupBy(rows ?? [], ({ type }) => type)].flatMap(([type, some]) => {
    const shown = some.flatMap(({ id }) => found.get(id) ?? []);
    return groupOf({ key: type, title: titleOf(type, understood.libraries), hits: shown, total: some[0]?.total ?? 0 });
  });
}

async function namedGroup(searching: Searching, kind: NamedKind, way: Way): Promise<Group[]> {
  const { call, understood, query } = searching;
  if (!understood.terms.query || (query.kinds && !query.kinds.includes(kind))) return [];
  if (hasConditions(understood)) return [];
  const found = await timed(searching, (db) =>
    bestNamed({ call, db, understood, libraryId: query.libraryId }, kind, { cap: CAP, way, limit: query.perGroup }),
  );
  if (!found) return [];
  const make = kind === 'person' ? peopleHits : studioHits;
  const hits = await make(call, found.rows, wantedOf(understood, way));
  return groupOf({ key: kind, title: kind === 'person' ? 'People' : 'Studios', hits, total: found.total });
}

/** Collections of the whole server; a question about one library is about its items. */
async function collectionGroup(searching: Searching): Promise<Group[]> {
  const { call, understood, query } = searching;
  if (!understood.terms.query || (query.kinds && !query.kinds.includes('collection'))) return [];
  if (hasConditions(understood) || query.libraryId !== undefined) return [];
  const hits = (await timed(searching, (db) => collectionHits({ ...call, db }, understood.terms))) ?? [];
  const shown = hits.slice(0, query.perGroup);
  return groupOf({ key: 'collection', title: 'Collections', hits: shown, total: hits.length });
}

/** Coming programmes of the guide, as its own index finds them. */
async function programGroup(searching: Searching): Promise<Group[]> {
  const { call, understood, query } = searching;
  if (!understood.terms.query || (query.kinds && !query.kinds.includes('program'))) return [];
  if (hasConditions(understood)) return [];
  const hits = (await timed(searching, (db) => programHits({ ...call, db }, understood.terms, query.libraryId))) ?? [];
  const shown = hits.slice(0, query.perGroup);
  return groupOf({ key: 'program', title: 'On TV', hits: shown, total: hits.length });
}

/** Conditions are on items: with them people and studios are no answer. */
const hasConditions = ({ rules }: Understood): boolean =>
  'all' in rules && rules.all.some((rule) => !('all' in rule && rule.all.length === 0));

function groupOf({ hits, total, ...group }: { key: string; title: string; hits: SearchHit[]; total: number }): Group[] {
  if (hits.length === 0) return [];
  return [{ ...group, total: Math.max(total, hits.length), ...(total >= CAP && { totalIsEstimate: true }), hits }];
}

async function timed<T>(searching: Searching, read: Parameters<typeof within<T>>[2]): Promise<T | undefined> {
  const found = await within(searching.call.db, MOST_MS, read);
  if (found === undefined) searching.late = true;
  return found;
}

const wantedOf = ({ terms }: Understood, way: Way) => ({
  tokens: terms.tokens,
  open: terms.open,
  near: way === 'near',
});

/** The plural name of an item type. */
function titleOf(type: string, libraries: readonly LibraryRow[]): string {
  for (const library of libraries) {
    const level = builtInOf(baseOf(library))?.levels.find(({ itemType }) => itemType === type);
    if (level) return level.plural;
  }
  return type.replace(/^custom:/, '');
}
