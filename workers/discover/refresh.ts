import {
  itemTitles,
  learnTitles,
  placesInUse,
  serverPlace,
  titlesToLearn,
  trimDetails,
  trimSearches,
} from '#areas/discover/public.ts';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { CatalogueFault } from '#platform/agents/fault.ts';
import type { Place } from '#platform/agents/listed-title.ts';
import type { Outbound } from '#platform/outbound.ts';
import type { Handler, Work } from '../work.ts';
import { makeLists } from './lists.ts';
import { fetchPosters, trimPosters } from './posters.ts';

/** Items of one run whose ids are learned. */
const MOST_LEARNED = 2000;

export interface RefreshSetting {
  catalogues?: (work: Work) => Catalogues;
  /** For pictures. */
  outbound?: Outbound;
}

/** Job discover.refresh: makes the lists of every place in use, or of one, and fetches pictures. The setting is for tests. */
export const createDiscoverRefresh =
  ({ catalogues = (work) => new Catalogues(work), outbound }: RefreshSetting = {}): Handler<'discover.refresh'> =>
  async ({ place, posters }, work) => {
    if (!work.settings.get('discover.enabled')) return { skipped: 'off' };
    const fetched = (): Promise<number> => fetchWhereOpen(work, catalogues(work), outbound);
    if (posters) return { posters: await fetched() };
    if (!place) await tidy(work);
    const places = place ? [place] : await placesToMake(work);
    let titles = 0;
    for (const one of places) {
      work.signal.throwIfAborted();
      titles += await makeLists(work, catalogues(work), one);
    }
    return { places: places.length, titles, posters: await fetched() };
  };

/** The next refresh tries again while TMDB does not answer. */
async function fetchWhereOpen(work: Work, catalogues: Catalogues, outbound: Outbound | undefined): Promise<number> {
  try {
    return await fetchPosters(work, catalogues, outbound);
  } catch (error) {
    if (error instanceof CatalogueFault) return 0;
    throw error;
  }
}

/** Those in use, with that of the server. */
async function placesToMake(work: Work): Promise<Place[]> {
  const own = serverPlace(work.settings);
  const used = await placesInUse(work.db);
  const isUsed = used.some(({ country, language }) => country === own.country && language === own.language);
  return isUsed ? used : [own, ...used];
}

async function tidy(work: Work): Promise<void> {
  await trimSearches(work.db);
  await trimDetails(work.db);
  await trimPosters(work);
  await learnItems(work);
}

/** Learns the ids of items of the libraries. */
async function learnItems({ db }: Work): Promise<void> {
  const ids = await titlesToLearn(db, MOST_LEARNED);
  const found = await itemTitles(db, db.from('items as i').whereRaw('i.id = any(?::uuid[])', [ids]));
  await learnTitles(
    db,
    found.map(({ title }) => ({ title, ageYears: null })),
  );
}
