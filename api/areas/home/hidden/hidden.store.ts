import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';

export type HiddenRecord = Row<'home_hidden'>;
export type HiddenUntil = HiddenRecord['until'];

/** Hidden cards a profile may have; the oldest go. */
const MOST = 2000;

/** True while the card is hidden: `played-again` ends with the first play of it, or of something in it. */
const IN_FORCE = `(h.until = 'forever' or h.until_at > now() or (h.until = 'played-again' and not exists (
  select 1 from items i join item_states s on s.item_id = i.id and s.profile_id = h.profile_id
  where (i.id = h.item_id or i.parent_id = h.item_id or i.grandparent_id = h.item_id)
    and i.trashed_at is null and s.last_played_at > h.hidden_at)))`;

/** Cards that are hidden now, the newest first. */
export async function findHidden(db: Db, profileId: string): Promise<HiddenRecord[]> {
  return db
    .from('home_hidden as h')
    .where('h.profile_id', profileId || null)
    .whereRaw(IN_FORCE)
    .orderBy([{ column: 'h.hidden_at', order: 'desc' }, 'h.item_id'])
    .select('h.*');
}

export interface Hiding {
  profileId: string;
  itemId: string;
  /** Empty for every row. */
  rowId: string;
  until: HiddenUntil;
  untilAt: Date | null;
}

export async function hideCard(db: Db, { profileId, itemId, rowId, until, untilAt }: Hiding): Promise<void> {
  const since = { until, until_at: untilAt, hidden_at: new Date() };
  await db('home_hidden')
    .insert({ profile_id: profileId, item_id: itemId, row_id: rowId, ...since })
    .onConflict(['profile_id', 'item_id', 'row_id'])
    .merge(since);
  await db.raw(
    `delete from home_hidden h where h.profile_id = :profile and h.hidden_at < (
       select kept.hidden_at from home_hidden kept where kept.profile_id = :profile
       order by kept.hidden_at desc offset ${MOST - 1} limit 1)`,
    { profile: profileId },
  );
}

/** Shows a card again: in one row, or in every row when `rowId` is empty. */
export async function showCard(db: Db, { profileId, itemId, rowId }: Omit<Hiding, 'until' | 'untilAt'>): Promise<void> {
  const rows = db('home_hidden').where({ profile_id: profileId, item_id: itemId });
  await (rowId === '' ? rows : rows.where({ row_id: rowId })).delete();
}
