import type { Call } from '#kernel/endpoint.ts';
import { countUpTo, type Page, pageOf, parseSort, readCursor, type SortTable, writeCursor } from '#kernel/page.ts';
import { MOST_MS, within } from '../found/within.ts';
import { parseQuestion } from '../question/parse-question.ts';
import { readTerms } from '../question/terms.ts';
import { countQuestion, languagesOf, visibleLibraries } from '../question/understand.ts';
import type { TranscriptHit, TranscriptsQuery } from '../search.schemas.ts';
import { cueHits } from './cue-hits.ts';
import { type Narrowing, type StretchRow, visibleStretches } from './stretches.view.ts';

const sorts: SortTable = {
  score: { column: 'h.rank', type: 'double precision', descends: true },
  item: { column: 'h.sort_title', type: 'text' },
  startMs: { column: 'h.start_ms', type: 'int' },
};

interface Answer {
  items: TranscriptHit[];
  page: Page;
  partial?: true;
}

const NONE: Answer = { items: [], page: { cursor: null, hasMore: false, total: 0 } };

/** A page of cues with the words of a question. */
export async function searchTranscriptsPage(call: Call, query: TranscriptsQuery): Promise<Answer> {
  await countQuestion(call);
  const narrowing = await narrowingOf(call, query);
  if (!narrowing) return NONE;
  const found = await within(call.db, MOST_MS, async (db) => {
    const inside = { ...call, db };
    return (await isSingle(inside, query.itemId))
      ? oneFilm(inside, narrowing, query)
      : gathered(inside, narrowing, query);
  });
  return found ?? { ...NONE, partial: true };
}

/** The best cues for the search page; undefined when they took too long. */
export async function bestTranscripts(
  call: Call,
  query: { q: string; libraryId?: string | undefined },
  { limit, ms }: { limit: number; ms: number },
): Promise<{ total: number; hits: TranscriptHit[] } | undefined> {
  const narrowing = await narrowingOf(call, query);
  if (!narrowing) return { total: 0, hits: [] };
  const found = await within(call.db, ms, (db) =>
    gathered({ ...call, db }, narrowing, { ...query, limit, perItem: 1, context: true }),
  );
  return found && { total: found.page.total ?? 0, hits: found.items };
}

type Request = Pick<TranscriptsQuery, 'q'> & Partial<TranscriptsQuery>;

/** Undefined when nothing can be found: no words, or the search of transcripts is off. */
async function narrowingOf(call: Call, query: Request): Promise<Narrowing | undefined> {
  if (!call.deps.settings.get('search.transcripts')) return undefined;
  const libraries = await visibleLibraries(call, query.libraryId);
  const { itemId, language, filter } = query;
  const languages = [...languagesOf(call, libraries), ...(language ? [language] : [])];
  const parsed = parseQuestion(query.q);
  const terms = await readTerms(call.db, { ...parsed, filters: [] }, { languages });
  return terms.query ? { terms, libraries, itemId, language, filter } : undefined;
}

async function isSingle({ db }: Call, itemId: string | undefined): Promise<boolean> {
  if (itemId === undefined) return false;
  return (await db('transcript_tracks').where({ item_id: itemId }).first('item_id')) !== undefined;
}

const wantedOf = ({ terms: { tokens, open } }: Narrowing) => ({ tokens, open });

async function gathered(
  call: Call,
  narrowing: Narrowing,
  query: Request & { limit: number; perItem: number; context: boolean },
): Promise<Answer> {
  const { cursor, limit, sort, context, ...rest } = query;
  const rows = visibleStretches(call, narrowing, query.perItem);
  const total = cursor === undefined ? await countUpTo(call.db, rows) : { total: 0 }; // one connection: one after the other
  const { items, page } = await pageOf<StretchRow, StretchRow>(call.db, rows, {
    keys: call.deps.keys,
    terms: parseSort(sort, sorts, '-score'),
    cursor,
    limit,
    scope: JSON.stringify(['searchTranscripts', rest, call.who.profileId]),
    idColumn: 'h.id',
    toItem: (row) => row,
    total: async () => total,
  });
  const hits = await cueHits(call, items, { wanted: wantedOf(narrowing), context });
  const found = new Map(items.map((row) => [row.item_id, row.found]));
  return {
    items: hits.map((hit) => ({ ...hit, more: Math.max(0, (found.get(hit.item.id) ?? 0) - query.perItem) })),
    page,
  };
}

/** Stretches of one film; longer ones than any. */
const MOST_STRETCHES = 2000;

/** Every cue of a single film by its time. */
async function oneFilm(call: Call, narrowing: Narrowing, query: TranscriptsQuery): Promise<Answer> {
  const { cursor, limit, context, ...rest } = query;
  const scope = JSON.stringify(['searchTranscripts', rest, call.who.profileId, 'film']);
  const rows: StretchRow[] = await visibleStretches(call, narrowing, MOST_STRETCHES).orderBy(['h.start_ms', 'h.id']);
  const hits = await cueHits(call, rows, { wanted: wantedOf(narrowing), context, all: true });
  const own = new Map(hits.map((hit) => [`${hit.streamId}:${hit.startMs}:${hit.text}`, hit])); // the overlap has a cue twice
  const all = [...own.values()].sort((a, b) => a.startMs - b.startMs || (a.streamId < b.streamId ? -1 : 1));
  const from = cursor === undefined ? 0 : Number(readCursor(call.deps.keys, scope, cursor).values[0] ?? 0);
  const last = all[from + limit - 1];
  const hasMore = from + limit < all.length;
  const next =
    hasMore && last ? writeCursor(call.deps.keys, scope, { values: [from + limit], id: last.streamId }) : null;
  return {
    items: all.slice(from, from + limit),
    page: { cursor: next, hasMore, ...(cursor === undefined && { total: all.length }) },
  };
}
