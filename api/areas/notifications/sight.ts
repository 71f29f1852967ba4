import type { Knex } from 'knex';
import { ACCOUNT_JSON, type AccountRow, principalOfRow } from '#identity/account-row.ts';
import { may, type Principal } from '#identity/principal.ts';
import { onlyVisibleItems, onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { kindNames, kindOf, type NotificationKind } from './kinds.ts';

export interface Seer {
  profileId: string;
  accountId: string;
  who: Principal;
  /** Time zone of the profile, else of its account, else of the server. */
  zone: string;
}

let zoneOfServer = (): string => 'UTC';

/** Sets the time zone of profiles without one; called once by each process that creates notifications. */
export function takeServerZone(zone: () => string): void {
  zoneOfServer = zone;
}

interface About {
  kind: NotificationKind;
  itemId?: string | undefined;
  libraryId?: string | undefined;
}

/** The profiles that may see the target now, ordered by id. */
export async function seers(db: Db, profileIds: readonly string[], about: About): Promise<Seer[]> {
  const { rows } = await db.raw<{ rows: { row: AccountRow }[] }>(
    `select json_build_object(${ACCOUNT_JSON}) as row from accounts a join profiles p on p.account_id = a.id
     where p.id = any(?::uuid[]) order by p.id`,
    [[...profileIds]],
  );
  const seeing: Seer[] = [];
  for (const { row } of rows) {
    const who = principalOfRow(row);
    if (row.gone || !(await sees(db, who, about))) continue;
    seeing.push({ profileId: row.profile_id, accountId: row.account_id, who, zone: who.timeZone ?? zoneOfServer() });
  }
  return seeing;
}

async function sees(db: Db, who: Principal, { kind, itemId, libraryId }: About): Promise<boolean> {
  const { permission } = kindOf(kind);
  if (permission && !may(who, permission)) return false;
  if (itemId !== undefined) return has(db.from('items').where('items.id', itemId).modify(onlyVisibleItems, who));
  if (libraryId === undefined) return true;
  return has(db.from('libraries').where('libraries.id', libraryId).modify(onlyVisibleLibraries, who));
}

async function has(query: Knex.QueryBuilder): Promise<boolean> {
  return ((await query.limit(1).select(1)) as unknown[]).length > 0;
}

/** Kinds that this account cannot get now. */
export const kindsWithheld = (who: Principal): NotificationKind[] =>
  kindNames.filter((name) => {
    const { permission } = kindOf(name);
    return permission !== undefined && !may(who, permission);
  });

/** Restricts a query over `notifications as n` to own ones whose target is visible to the reader. */
export function onlyVisible(query: Knex.QueryBuilder, who: Principal): void {
  query.where('n.profile_id', who.profileId).where('n.in_app', true);
  query.whereRaw('coalesce(n.expires_at > now(), true)');
  query.whereNotIn('n.kind', kindsWithheld(who));
  query.where((any) => {
    any.whereNull('n.item_id').orWhereExists((item) => {
      item.from('items').whereRaw('items.id = n.item_id').modify(onlyVisibleItems, who);
    });
  });
  query.where((any) => {
    any.whereNull('n.library_id').orWhereExists((library) => {
      library.from('libraries').whereRaw('libraries.id = n.library_id').modify(onlyVisibleLibraries, who);
    });
  });
}
