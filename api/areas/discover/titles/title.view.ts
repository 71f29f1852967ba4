// Titles as they are answered.
import type { ItemSummary } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { imageRefSql } from '#kernel/images.ts';
import { type ImageRef, iso } from '#kernel/schemas.ts';
import type { ListedTitle, Place } from '#platform/agents/listed-title.ts';
import { known } from '#platform/agents/parts.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { knownService } from '#platform/streaming-services.ts';
import type { DiscoverTitle, TitleOffer } from '../discover.schemas.ts';
import { namesOfServices } from '../services/services.store.ts';
import { itemsOfTitles } from './here.view.ts';
import { idsOfTitles, titleIdOf } from './identity.store.ts';
import { type OfferRow, offersOfTitles } from './offers.store.ts';

const MOST_OFFERS = 6;

/** A title with the id of its row. */
export interface Shown {
  id: string;
  facts: ListedTitle;
  /** 0 to 1. */
  popularity?: number | null;
}

/** Everything about titles that their rows and the caller decide. */
export interface Around {
  ids: Map<string, Record<string, string>>;
  here: Map<string, ItemSummary>;
  offers: Map<string, TitleOffer[]>;
  posters: Map<string, ImageRef>;
}

type Viewer = Pick<Call, 'db' | 'who' | 'deps' | 'now'>;

/** Reads what belongs to titles by their rows. */
export async function aroundTitles(call: Viewer, titleIds: readonly string[], country: string): Promise<Around> {
  const { db } = call;
  const [ids, here, rows, posters] = await Promise.all([
    idsOfTitles(db, titleIds),
    itemsOfTitles(call, titleIds),
    offersOfTitles(db, titleIds, country),
    postersOf(db, titleIds),
  ]);
  const services = await namesOfServices(db, [...new Set([...rows.values()].flat().map((row) => row.service_id))]);
  const offers = titleIds.map((id): [string, TitleOffer[]] => [
    id,
    ordered([...hereOffers(call, here.get(id)), ...(rows.get(id) ?? []).map((row) => toOffer(row, services))]),
  ]);
  return { ids, here, offers: new Map(offers), posters };
}

function hereOffers({ deps, now }: Viewer, item: ItemSummary | undefined): TitleOffer[] {
  if (!item) return [];
  const serviceName = deps.settings.get('server.name');
  const offer = { serviceId: 'here', serviceName, kind: 'here', mine: true, itemId: item.id } as const;
  return [{ ...offer, certainty: 'confirmed', checkedAt: iso(now) }];
}

function toOffer(row: OfferRow, services: ReadonlyMap<string, string>): TitleOffer {
  const { service_id: serviceId, certainty, kind, url, seasons, checked_at: checkedAt } = row;
  return {
    ...{ serviceId, serviceName: knownService(serviceId)?.name ?? services.get(serviceId) ?? serviceId },
    ...{ kind: kind as TitleOffer['kind'], mine: false, certainty: certainty as TitleOffer['certainty'] },
    ...(url !== null && { url }),
    ...(seasons.length > 0 && { seasons }),
    checkedAt: iso(checkedAt),
  };
}

const ORDER = ['here', 'recording', 'live-tv', 'free', 'subscription', 'ads', 'rent', 'buy'];
/** Own subscriptions come before free offers. */
const placeOf = ({ kind, mine }: TitleOffer): number =>
  mine && kind === 'subscription' ? ORDER.indexOf('free') - 0.5 : ORDER.indexOf(kind);
const ordered = (offers: TitleOffer[]): TitleOffer[] => offers.sort((a, b) => placeOf(a) - placeOf(b));

async function postersOf(db: Db, titleIds: readonly string[]): Promise<Map<string, ImageRef>> {
  const rows = await rowsOf<{ owner_id: string; poster: ImageRef }>(
    db,
    `select distinct on (i.owner_id) i.owner_id, ${imageRefSql('i.id')} as poster from images i
      where i.owner_kind = 'title' and i.owner_id = any(?::uuid[]) and not i.discarded order by i.owner_id, i.added_at desc`,
    [[...titleIds]],
  );
  return new Map(rows.map(({ owner_id: id, poster }) => [id, poster]));
}

function onThisServer(id: string, around: Around): Partial<Pick<DiscoverTitle, 'here' | 'poster'>> {
  const item = around.here.get(id);
  const poster = around.posters.get(id) ?? item?.artwork.poster;
  return {
    ...(poster && { poster }),
    ...(item && { here: { itemId: item.id, libraryId: item.libraryId, watched: item.userState?.watched ?? false } }),
  };
}

/** One title for an answer. */
export function toTitle({ id, facts, popularity }: Shown, around: Around): DiscoverTitle {
  const { kind, title, originalTitle, year, releasedOn, overview, ageRating, rating, runtimeMs } = facts;
  const { here, poster } = onThisServer(id, around);
  const single = known<Omit<DiscoverTitle, 'genres' | 'releases' | 'offers'>>({
    ...{
      titleId: titleIdOf(kind, around.ids.get(id) ?? facts.ids) ?? `${kind}:item:${id}`,
      kind,
      title,
      originalTitle,
    },
    ...{ year, releasedOn, overview, ageRating, rating, runtimeMs },
    ...{ poster, here },
    inWatchlist: false,
    popularity: popularity ?? undefined,
  });
  const { genres = [], releases = [] } = facts;
  return { ...single, genres, releases, offers: (around.offers.get(id) ?? []).slice(0, MOST_OFFERS) };
}

/** Titles of one country in the order given. */
export async function toTitles(
  call: Viewer,
  { country }: Pick<Place, 'country'>,
  all: readonly Shown[],
): Promise<DiscoverTitle[]> {
  const around = await aroundTitles(
    call,
    all.map(({ id }) => id),
    country,
  );
  return all.map((one) => toTitle(one, around));
}
