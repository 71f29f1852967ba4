// The three lists.
import type { Knex } from 'knex';
import type { z } from 'zod';
import type { Call } from '#kernel/endpoint.ts';
import {
  type CinemasQuery,
  cinemaSorts,
  type DiscsQuery,
  discSorts,
  type StreamingQuery,
  streamingSorts,
} from '../discover.schemas.ts';
import { onlyUnseen } from '../titles/here.view.ts';
import { type DiscoverAnswer, listPage } from './list-page.ts';
import { cinemaDays, discDays } from './windows.ts';

export async function cinemas(call: Call, query: z.output<typeof CinemasQuery>): Promise<DiscoverAnswer> {
  const days = cinemaDays(call.now)[query.when];
  const isNow = query.when === 'now';
  return listPage(call, {
    ...{ operation: 'listInCinemas', list: 'cinemas', query, sorts: cinemaSorts },
    fallback: isNow ? '-popularity,-releasedOn' : 'releasedOn',
    narrow: (rows) => {
      void rows.whereBetween('e.listed_on', [days.from, days.to]);
      if (isNow) void rows.whereRaw('(e.closed_on is null or e.closed_on > ?::date)', [days.to]);
    },
  });
}

export async function discs(call: Call, query: z.output<typeof DiscsQuery>): Promise<DiscoverAnswer> {
  const days = discDays(call.now)[query.when];
  return listPage(call, {
    ...{ operation: 'listNewOnDisc', list: 'discs', query, sorts: discSorts },
    fallback: query.when === 'new' ? '-releasedOn' : 'releasedOn',
    narrow: (rows) => void rows.whereBetween('e.listed_on', [days.from, days.to]),
  });
}

export async function streaming(call: Call, query: StreamingQuery): Promise<DiscoverAnswer> {
  const { services = ['mine'], ...rest } = query;
  const named = services.filter((id) => id !== 'mine');
  return listPage(call, {
    ...{ operation: 'listToStream', list: 'streaming', query: { ...rest, ...(named.length > 0 && { services }) } },
    ...{ sorts: streamingSorts, fallback: '-newSince' },
    narrow: (rows, { country }) => {
      joinOffers(rows, call, { country, services: named, kinds: query.offers });
      if (query.kind) void rows.where('e.kind', query.kind);
      if (query.since) void rows.whereRaw('n.new_since >= ?::date', [query.since]);
      if (query.hideWatched && !query.hideHere) onlyUnseen(rows, call, 'e.title_id');
    },
    missing: named.length > 0 ? [] : ['services-not-chosen'],
  });
}

interface Wanted {
  country: string;
  /** Empty is all. */
  services: readonly string[];
  kinds: readonly string[] | undefined;
}

/** Joins the first day of a wanted offer as `n`; items of this server are offers of kind `here`. */
function joinOffers(rows: Knex.QueryBuilder, { db }: Call, { country, services, kinds }: Wanted): void {
  const offers = db
    .from('discover_offers as o')
    .whereRaw('o.title_id = e.title_id')
    .where('o.country', country)
    .select(db.raw('min(o.first_seen_on) as day'));
  if (services.length > 0) void offers.whereIn('o.service_id', services);
  if (kinds) void offers.whereIn('o.kind', kinds);
  const takesHere = (services.length === 0 || services.includes('here')) && (kinds?.includes('here') ?? true);
  const since = takesHere
    ? 'coalesce(offered.day, case when e.item_id is not null then e.listed_on end)'
    : 'offered.day';
  void rows
    .joinRaw(`cross join lateral (select ${since} as new_since from (?) as offered) as n`, [
      offers as unknown as string,
    ])
    .whereNotNull('n.new_since');
}
