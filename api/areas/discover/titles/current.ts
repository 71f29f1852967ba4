// A title as it is known now: kept answers while they are fresh, else those of the providers.

import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import type { ListedTitle, Place, TitleKind } from '#platform/agents/listed-title.ts';
import type { SourceStates } from '../sources.ts';
import { type DetailsRow, findDetails, keepDetails, noteOffersChecked } from './details.store.ts';
import { ageOf, type Reading, together } from './facts.ts';
import { findTitle, type Ids, idsOfTitles, learnTitles, type NamedId } from './identity.store.ts';
import { type ItemTitle, itemTitle, workOf, workTitle } from './inside.ts';
import { writeOffers } from './offers.store.ts';
import { type Means, type Named, outsideProviders, type Reply, readOffers, readTitle } from './outside.ts';

const DETAILS_MS = 24 * 3_600_000;
const OFFERS_MS = 6 * 3_600_000;

export interface Current {
  /** Of its row. */
  id: string;
  /** Of the providers and the packs, which everyone may see. */
  facts: ListedTitle;
  states: SourceStates;
}

/** The facts about a title before a provider is queried. */
export interface Start {
  kind: TitleKind;
  ids: Ids;
  id: string | undefined;
  /** The item that its id names. */
  item: ItemTitle | undefined;
}

/** Throws 404 for an item that the caller does not see. */
export async function startOf(call: Pick<Call, 'db' | 'who'>, named: NamedId): Promise<Start> {
  const { kind, scheme, value } = named;
  const item = scheme === 'item' ? await itemTitle(call, value) : undefined;
  if (scheme === 'item' && item?.title.kind !== kind) throw notFound();
  const given = item?.title.ids ?? { [scheme]: value };
  for (const [name, id] of Object.entries(given)) {
    const found = await findTitle(call.db, { kind, scheme: name, value: id });
    if (found === undefined) continue;
    const ids = (await idsOfTitles(call.db, [found])).get(found);
    return { kind, ids: { ...ids, ...given }, id: found, item };
  }
  return { kind, ids: given, id: undefined, item };
}

type Reader = Pick<Call, 'db' | 'now'>;

/** By what providers are queried, and the place that they are queried for. */
export interface Asking {
  means: Means;
  place: Place;
}

/** Throws 404 for an unknown title, and 502 when every provider that could know it fails. */
export async function currentTitle(call: Reader, { means, place }: Asking, start: Start): Promise<Current> {
  const kept = start.id === undefined ? undefined : await findDetails(call.db, start.id, place);
  const age = (at: Date): number => call.now.getTime() - at.getTime();
  if (kept && age(kept.details_at) < DETAILS_MS) {
    const isFresh = age(kept.offers_at) < OFFERS_MS;
    return isFresh ? fromKept(kept, 'ok') : withOffers(call, { means, place }, { start, kept });
  }
  return readAll(call, { means, place }, { start, kept });
}

function fromKept(kept: DetailsRow, state: 'ok' | 'stale'): Current {
  const asOf = kept.details_at.toISOString();
  const outside = kept.providers.filter((one) => one === 'tmdb' || one === 'wikidata');
  return {
    id: kept.title_id,
    facts: kept.facts,
    states: Object.fromEntries(outside.map((one) => [one, { state, asOf }])),
  };
}

interface Known {
  start: Start;
  kept: DetailsRow | undefined;
}

/** The kept details with offers that are checked again. */
async function withOffers(
  { db }: Reader,
  { means, place }: Asking,
  { start, kept }: Known & { kept: DetailsRow },
): Promise<Current> {
  const reply = await readOffers(means, place, { kind: start.kind, ids: start.ids });
  const current = fromKept(kept, 'ok');
  if (reply.outcome === 'failed')
    return { ...current, states: { ...current.states, tmdb: { ...current.states.tmdb, state: 'stale' } } };
  if (reply.outcome === 'closed') return current;
  await writeOffers(db, {
    titleId: kept.title_id,
    country: place.country,
    providers: ['tmdb'],
    offers: reply.found ?? [],
  });
  await noteOffersChecked(db, kept.title_id, place);
  return current;
}

async function readAll(call: Reader, { means, place }: Asking, { start, kept }: Known): Promise<Current> {
  const work = await workOf(call.db, start.kind, start.ids);
  const inside: Reading[] = work ? [{ provider: 'spine', title: workTitle(work, place.country) }] : [];
  const named: Named = { kind: start.kind, ids: { ...inside[0]?.title.ids, ...start.ids } };
  const reply = await Promise.all(outsideProviders.map((one) => readTitle({ means, place }, one, named)));
  const outside = reply.flatMap((one) => (one.outcome === 'found' ? one.found : []));
  const states = statesOf(reply, call.now);
  const facts = together([...outside, ...inside]);
  if (outside.length > 0 && facts) {
    const whole = { ...facts, ids: { ...start.ids, ...facts.ids } };
    const providers = [...outside, ...inside].map(({ provider }) => provider);
    return { id: await keepDetails(call.db, place, { facts: whole, providers }), facts: whole, states };
  }
  if (kept) return { ...fromKept(kept, 'stale'), states: { ...states, ...fromKept(kept, 'stale').states } };
  return unread(call, place, { facts, start, reply, states });
}

function statesOf(reply: readonly Reply<Reading[]>[], now: Date): SourceStates {
  const asOf = now.toISOString();
  return Object.fromEntries(
    outsideProviders.flatMap((provider, at) => {
      const one = reply[at]?.outcome;
      if (one === 'closed' || one === undefined) return [];
      return [[provider, one === 'failed' ? { state: 'unavailable' } : { state: 'ok', asOf }]];
    }),
  ) as SourceStates;
}

interface Unread {
  /** Of the packs. */
  facts: ListedTitle | undefined;
  start: Start;
  reply: readonly Reply<Reading[]>[];
  states: SourceStates;
}

/** A title that no provider described: what the server itself knows of it. */
async function unread({ db }: Reader, { country }: Place, { facts, start, reply, states }: Unread): Promise<Current> {
  const own = facts ?? start.item?.title;
  if (own) {
    const title = { ...own, ids: { ...own.ids, ...start.ids } };
    const [id = ''] = await learnTitles(db, [{ title, ageYears: facts ? ageOf(facts, country) : null }]);
    return { id, facts: title, states };
  }
  const open = reply.filter((one) => one.outcome !== 'closed');
  if (open.length > 0 && open.every((one) => one.outcome === 'failed'))
    throw new ApiError('PROVIDER_UNAVAILABLE', 'No source of this title answers', { reason: 'failed' });
  throw notFound();
}
