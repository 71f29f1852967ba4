import type { StopReason } from '#areas/viewing/public.ts';
import { ACCOUNT_JSON, type AccountRow, principalOfRow } from '#identity/account-row.ts';
import type { Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';

export interface Lost {
  id: string;
  reason: StopReason;
}

interface Open {
  id: string;
  item_id: string;
  account: AccountRow;
  /** The item is deleted or in the trash, or its library is deleted. */
  over: boolean;
}

const OPEN = `
  select s.id, s.item_id, json_build_object(${ACCOUNT_JSON}) as account,
    i.id is null or i.trashed_at is not null or l.deleted_at is not null as over
  from playback_sessions s join accounts a on a.id = s.account_id join profiles p on p.id = s.profile_id
    left join items i on i.id = s.item_id left join libraries l on l.id = i.library_id
  where s.state <> 'stopped'`;

/**
 * Open sessions whose viewers may no longer see the item, or whose item is gone; one query for each playing profile.
 */
export async function lostAccess(db: Db): Promise<Lost[]> {
  const { rows } = await db.raw<{ rows: Open[] }>(OPEN);
  const over = rows.filter((row) => row.over).map(({ id }): Lost => ({ id, reason: 'ended' }));
  const byProfile = Map.groupBy(
    rows.filter((row) => !row.over),
    (row) => row.account.profile_id,
  );
  const lost: Lost[] = [];
  for (const sessions of byProfile.values()) lost.push(...(await lostOf(db, sessions)));
  return [...over, ...lost];
}

/** The sessions of one profile. */
async function lostOf(db: Db, sessions: readonly Open[]): Promise<Lost[]> {
  const [first] = sessions;
  if (!first) return [];
  const who = principalOfRow(first.account);
  const seen = await visibleOf(db, who, sessions);
  const hidden = sessions.filter(({ item_id }) => !seen.has(item_id));
  if (hidden.length === 0) return [];
  const { ageLimit: _, ...sees } = who.sees;
  const atAnyAge = await visibleOf(db, { ...who, sees: { ...sees, hideUnrated: false } }, hidden);
  return hidden.map(({ id, item_id }) => ({ id, reason: atAnyAge.has(item_id) ? 'age-limit' : 'limit' }));
}

async function visibleOf(db: Db, who: Principal, sessions: readonly Open[]): Promise<Set<string>> {
  const ids = await db('items')
    .whereIn(
      'items.id',
      sessions.map(({ item_id }) => item_id),
    )
    .modify(onlyVisibleItems, who)
    .pluck('items.id');
  return new Set(ids as string[]);
}
