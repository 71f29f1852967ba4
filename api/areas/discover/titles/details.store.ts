import type { ListedTitle, Place } from '#platform/agents/listed-title.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import { ageOf, type Provider } from './facts.ts';
import { learnTitles } from './identity.store.ts';
import { writeOffers } from './offers.store.ts';

export type DetailsRow = Row<'discover_details'>;

/** Older ones are no longer shown. */
const KEPT = '30 days';

export const findDetails = async (
  db: Db,
  titleId: string,
  { country, language }: Place,
): Promise<DetailsRow | undefined> =>
  db('discover_details')
    .where({ title_id: titleId, country, language })
    .whereRaw(`details_at > now() - interval '${KEPT}'`)
    .first('*');

export interface ReadTitle {
  facts: ListedTitle;
  /** Those that answered. */
  providers: readonly Provider[];
}

/** Keeps the present answers of providers about a title, with its identity and its offers. Returns the id of its row. */
export async function keepDetails(db: Db, place: Place, { facts, providers }: ReadTitle): Promise<string> {
  const posterFrom = facts.poster === undefined ? undefined : 'tmdb';
  const [titleId = ''] = await learnTitles(db, [{ title: facts, ageYears: ageOf(facts, place.country), posterFrom }]);
  const { country, language } = place;
  const { offers = [], ...kept } = facts;
  const row = { facts: JSON.stringify(kept), providers: [...providers] };
  await db.transaction(async (tx) => {
    await tx('discover_details')
      .insert({ title_id: titleId, country, language, ...row })
      .onConflict(['title_id', 'country', 'language'])
      .merge({ ...row, details_at: tx.raw('now()'), offers_at: tx.raw('now()') });
    await writeOffers(tx, { titleId, country, providers, offers });
  });
  return titleId;
}

/** Notes that the offers of a title were checked. */
export async function noteOffersChecked(db: Db, titleId: string, { country, language }: Place): Promise<void> {
  await db('discover_details')
    .where({ title_id: titleId, country, language })
    .update({ offers_at: db.raw('now()') });
}

/** Notes that a person looked at a title, at most once a day. */
export async function noteUsed(db: Db, titleId: string): Promise<void> {
  await db('discover_titles')
    .where({ id: titleId })
    .whereRaw(`used_at < now() - interval '1 day'`)
    .update({ used_at: db.raw('now()') });
}

/** Whether the picture of a title is still to be fetched. */
export async function lacksPoster(db: Db, titleId: string): Promise<boolean> {
  const row = await db('discover_titles as t')
    .where('t.id', titleId)
    .whereNotNull('t.poster_path')
    .whereNull('t.poster_failed_at')
    .whereRaw(`not exists (select from images i where i.owner_kind = 'title' and i.owner_id = t.id)`)
    .first('t.id');
  return row !== undefined;
}

/** The most recent facts of titles for a place. */
export async function keptFacts(
  db: Db,
  titleIds: readonly string[],
  { country, language }: Place,
): Promise<Map<string, ListedTitle>> {
  const rows = await db('discover_details')
    .whereRaw('title_id = any(?::uuid[])', [[...titleIds]])
    .where({ country, language })
    .whereRaw(`details_at > now() - interval '${KEPT}'`)
    .select('title_id', 'facts');
  return new Map(rows.map((row) => [row.title_id, row.facts]));
}

/** Kept titles of a place with such a name. */
export async function titlesKept(db: Db, { country, language }: Place, q: string): Promise<ListedTitle[]> {
  const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`;
  const rows: { facts: ListedTitle }[] = await db
    .from('discover_titles as t')
    .join('discover_details as d', 'd.title_id', 't.id')
    .where({ 'd.country': country, 'd.language': language })
    .whereRaw(`d.details_at > now() - interval '${KEPT}'`)
    .whereRaw('(foyer_fold(t.title) like foyer_fold(?) or foyer_fold(t.title) % foyer_fold(?))', [pattern, q])
    .limit(50)
    .select({ facts: 'd.facts' });
  return rows.map(({ facts }) => facts);
}

/** Deletes details past their use. */
export async function trimDetails(db: Db): Promise<void> {
  await db.raw(`delete from discover_details where details_at < now() - interval '${KEPT}'`);
}
