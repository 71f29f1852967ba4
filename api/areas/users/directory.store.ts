import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';

/** The fields of a person in the directory. */
export type PersonRow = Pick<Row<'accounts'>, 'id' | 'display_name' | 'avatar_id'>;

const MANAGES = `coalesce((a.own_permissions ->> 'user:manage')::boolean, a.role in ('owner', 'admin'))`;

/**
 * Accounts as `a` that the caller may share with or invite. Collections, Playlists and Watchlist read this one query.
 * A child finds accounts with `user:manage`, a guest none.
 */
export function directory(db: Db, who: Principal): Knex.QueryBuilder<object, PersonRow[]> {
  const query = db('accounts as a')
    .where({ 'a.is_system': false, 'a.disabled': false })
    .whereNull('a.deleted_at')
    .whereNot('a.id', who.accountId)
    .whereRaw('coalesce(a.expires_at > now(), true)')
    .select<PersonRow[]>('a.id', 'a.display_name', 'a.avatar_id');
  if (who.role === 'guest') query.whereRaw('false');
  else query.whereRaw(who.role === 'child' ? MANAGES : `(a.discoverable or ${MANAGES})`);
  return query;
}

/** Undefined for an account outside the directory of the caller, like for an unknown one. */
export async function findPerson(db: Db, who: Principal, id: string): Promise<PersonRow | undefined> {
  const [row] = await directory(db, who).where('a.id', id);
  return row;
}
