// The rights with which a rule runs: those that its owner has now.
import { principalOf } from '#identity/account-row.ts';
import { may, type Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { findShown } from '../guide/programs.store.ts';

export interface OwnChannel {
  /** Key of its guide channel. */
  key: number;
  id: string;
  name: string;
}

export interface Owner {
  who: Principal;
  /** Those that can be recorded, by number. */
  channels: readonly OwnChannel[];
}

/** Undefined for an account that may not record any more. */
export async function ownerOf(db: Db, accountId: string): Promise<Owner | undefined> {
  const who = (await isOpen(db, accountId)) ? await principalOf(db, accountId) : undefined;
  if (!who || !may(who, 'download:own') || !may(who, 'library:view')) return undefined;
  if (who.restrictions['liveTv'] === 'deny' || who.restrictions['record'] === 'deny') return undefined;
  return { who, channels: await channelsOf(db, who) };
}

async function isOpen(db: Db, accountId: string): Promise<boolean> {
  const [row] = await rowsOf<{ open: boolean }>(
    db,
    'select not disabled and coalesce(expires_at > now(), true) as open from accounts where id = ?',
    [accountId],
  );
  return row?.open ?? false;
}

async function channelsOf(db: Db, who: Principal): Promise<OwnChannel[]> {
  const shown = await findShown(db, who);
  const rows = await db('live_channels')
    .whereIn(
      'id',
      shown.map(({ channelId }) => channelId),
    )
    .where({ drm: false })
    .select('id', 'name');
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return shown.flatMap(({ key, channelId: id }) => {
    const name = names.get(id);
    return name === undefined ? [] : [{ key, id, name }];
  });
}
