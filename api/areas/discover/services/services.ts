import type { z } from 'zod';
import type { Call } from '#kernel/endpoint.ts';
import { knownServices, servesCountry } from '#platform/streaming-services.ts';
import type { StreamingService, StreamingServices } from '../discover.schemas.ts';
import { findList } from '../lists/lists.store.ts';
import { placeOf, requireDiscover } from '../place.ts';
import { sourcesOf } from '../sources.ts';
import { figuresOfServices } from '../titles/offers.store.ts';
import { servicesIn } from './services.store.ts';

/** The built-in services of a country and those that providers know there, with the most titles first. */
export async function services(
  call: Call,
  query: { country?: string | undefined; q?: string | undefined },
): Promise<z.output<typeof StreamingServices>> {
  requireDiscover(call);
  const place = await placeOf(call, query);
  const { country } = place;
  const [found, figures, list] = await Promise.all([
    servicesIn(call.db, country),
    figuresOfServices(call.db, country),
    findList(call.db, 'streaming', place),
  ]);
  const byId = new Map(figures.map((one) => [one.id, one]));
  const builtIn = knownServices
    .filter((one) => servesCountry(one, country))
    .map(({ id, name, kinds, countries }) => ({ id, name, kinds: [...kinds], countries: [...countries] }));
  const known = new Set(knownServices.map(({ id }) => id));
  const others = found
    .filter(({ id }) => !known.has(id))
    .map(({ id, name }) => ({ id, name, kinds: byId.get(id)?.kinds ?? [], countries: [country] }));
  const wanted = query.q?.toLowerCase() ?? '';
  const items = [...builtIn, ...others]
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .map((one): StreamingService => ({ ...one, mine: false, titleCount: byId.get(one.id)?.titles ?? 0 }));
  const sources = await sourcesOf(call, list?.sources ?? {});
  return { items: items.sort(byCount), country, sources };
}

const byCount = (a: StreamingService, b: StreamingService): number =>
  (b.titleCount ?? 0) - (a.titleCount ?? 0) || (a.name < b.name ? -1 : 1);
