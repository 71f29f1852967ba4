import type { ListedOffer, ServiceOfferKind } from '#platform/agents/listed-title.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Provider } from './facts.ts';

export type OfferRow = Row<'discover_offers'>;

export interface CheckedOffers {
  titleId: string;
  country: string;
  /** Those that answered; offers that only they had and no longer have end. */
  providers: readonly Provider[];
  offers: readonly ListedOffer[];
}

/** Stores what providers offer now. An offer keeps the day on which it was first found. */
export async function writeOffers(db: Db, { titleId, country, providers, offers }: CheckedOffers): Promise<void> {
  const provided = (one: ListedOffer): Provider => (one.certainty === 'confirmed' ? 'tmdb' : 'wikidata');
  const answered = offers.filter((one) => providers.includes(provided(one)));
  const keep = answered.map(({ serviceId, kind }) => `${serviceId} ${kind}`);
  await db('discover_offers')
    .where({ title_id: titleId, country })
    .whereIn('provider', providers)
    .whereRaw(`service_id || ' ' || kind <> all(?::text[])`, [keep])
    .delete();
  for (const offer of answered)
    await db('discover_offers')
      .insert({
        ...{ title_id: titleId, country, service_id: offer.serviceId, kind: offer.kind, provider: provided(offer) },
        ...{ url: offer.url ?? null, seasons: offer.seasons ?? [], certainty: offer.certainty },
      })
      .onConflict(['title_id', 'country', 'service_id', 'kind'])
      .merge({
        ...{ provider: db.raw('excluded.provider'), url: db.raw('excluded.url'), seasons: db.raw('excluded.seasons') },
        ...{ certainty: db.raw('excluded.certainty'), checked_at: db.raw('now()') },
      });
}

export async function offersOfTitles(
  db: Db,
  titleIds: readonly string[],
  country: string,
): Promise<Map<string, OfferRow[]>> {
  const rows = await db('discover_offers')
    .whereRaw('title_id = any(?::uuid[])', [[...titleIds]])
    .where({ country })
    .orderBy(['service_id', 'kind'])
    .select();
  const found = new Map<string, OfferRow[]>();
  for (const row of rows) found.set(row.title_id, [...(found.get(row.title_id) ?? []), row]);
  return found;
}

export interface ServiceFigures {
  id: string;
  titles: number;
  kinds: ServiceOfferKind[];
}

/** Known titles of each service in a country, and the kinds of its offers. */
export async function figuresOfServices(db: Db, country: string): Promise<ServiceFigures[]> {
  const rows = await db('discover_offers')
    .where({ country })
    .groupBy('service_id')
    .select({ id: 'service_id' })
    .select(db.raw('count(distinct title_id)::int as titles, array_agg(distinct kind) as kinds'));
  return rows as unknown as ServiceFigures[];
}
