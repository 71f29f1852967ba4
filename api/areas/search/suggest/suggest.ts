import { findItemSummaries, type ItemSummary } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Scope } from '../found/candidates.view.ts';
import { imageOf, subtitleOf } from '../found/item-hits.view.ts';
import { marksIn, type Wanted } from '../found/marks.ts';
import { peopleHits, studioHits } from '../found/named.view.ts';
import { readTerms, type Terms } from '../question/terms.ts';
import { countQuestion, languagesOf, visibleLibraries } from '../question/understand.ts';
import type { SearchHit, Suggestion, SuggestQuery } from '../search.schemas.ts';
import { type Document, matching, popular } from './documents.view.ts';
import { genreSuggestions } from './genres.view.ts';
import { keep, kept, nameOf } from './kept.ts';
import { latestOfDevice } from './latest.ts';

/** Letters up to which the best are kept. */
const SHORT = 3;
const MOST_KEPT = 50;
const MOST_GENRES = 2;

/** What the letters typed so far may become, the likeliest first. */
export async function suggestions(call: Call, query: SuggestQuery): Promise<{ items: Suggestion[]; tookMs: number }> {
  const began = performance.now();
  await countQuestion(call);
  const items = await latestOfDevice(call, (db) => read({ ...call, db }, query));
  // Nothing was read for a question that ended early: a browser must not keep that for the same letters.
  call.reply.header('cache-control', items ? 'private, max-age=30' : 'no-store');
  return { items: items ?? [], tookMs: Math.round(performance.now() - began) };
}

async function read(call: Call, query: SuggestQuery): Promise<Suggestion[]> {
  const { db, who } = call;
  const libraries = await visibleLibraries(call, query.libraryId);
  const question = { words: query.q, phrases: [], excluded: [], filters: [], open: true };
  const terms = await readTerms(db, question, { languages: languagesOf(call, libraries) });
  if (!terms.query) return [];
  const kinds = query.types ? (['item'] as const) : (['item', 'person', 'studio'] as const);
  const scope: Scope = { db, who, kinds, libraryIds: libraries.map(({ id }) => id), types: query.types };
  const found = await best(call, { scope, terms, query });
  const genres = query.types
    ? []
    : await genreSuggestions(call, { libraryIds: scope.libraryIds, terms, limit: MOST_GENRES });
  const shown = await described(call, found, { tokens: terms.tokens, open: true });
  return [...shown.slice(0, query.limit - genres.length), ...genres].slice(0, query.limit);
}

interface Reading {
  scope: Scope;
  terms: Terms;
  query: SuggestQuery;
}

/** Short beginnings fit very many: their best are kept for a while, and every answer checks again which are visible. */
async function best(call: Call, { scope, terms, query }: Reading): Promise<Document[]> {
  const [only] = terms.tokens;
  if (terms.tokens.length !== 1 || !only || only.length > SHORT) {
    return await matching(scope, terms, { libraryId: query.libraryId, limit: query.limit });
  }
  const name = nameOf(scope, only);
  const ids = await kept(call, name);
  if (ids) {
    const known = await popular(scope, terms, { libraryId: query.libraryId, limit: query.limit, ids });
    if (known.length >= query.limit) return known;
  }
  const found = await popular(scope, terms, { libraryId: query.libraryId, limit: MOST_KEPT });
  if (found.length === MOST_KEPT)
    await keep(
      call,
      name,
      found.map(({ id }) => id),
    );
  return found.slice(0, query.limit);
}

async function described(call: Call, found: readonly Document[], wanted: Wanted): Promise<Suggestion[]> {
  const { db, who } = call;
  const of = (kind: Document['kind']) => found.filter((one) => one.kind === kind).map(({ id }) => ({ id, score: 0 }));
  // one connection: one after the other
  const items = await findItemSummaries(
    db,
    who,
    of('item').map(({ id }) => id),
  );
  const people = await peopleHits(call, of('person'), wanted);
  const studios = await studioHits(call, of('studio'), wanted);
  const named = new Map([...people, ...studios].map((hit) => [hit.id, hit]));
  return found.flatMap(({ id }): Suggestion[] => {
    const item = items.get(id);
    const hit = named.get(id);
    if (item) return [itemSuggestion(item, wanted)];
    return hit ? [namedSuggestion(hit)] : [];
  });
}

function itemSuggestion(item: ItemSummary, wanted: Wanted): Suggestion {
  const subtitle = subtitleOf(item);
  const image = imageOf(item);
  const more = { ...(subtitle && { subtitle }), ...(image && { image }) };
  return {
    kind: 'item',
    id: item.id,
    text: item.title,
    type: item.type,
    ...more,
    marks: marksIn(item.title, wanted).marks,
  };
}

function namedSuggestion({ kind, id, title, subtitle, image, highlight }: SearchHit): Suggestion {
  const more = { ...(subtitle && { subtitle }), ...(image && { image }) };
  return { kind: kind === 'person' ? kind : 'studio', id, text: title, ...more, marks: highlight?.[0]?.marks ?? [] };
}
