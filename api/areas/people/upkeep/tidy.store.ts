import type { Db } from '#platform/db.ts';

/** Days that a person stays without any credit. */
const KEPT_DAYS = 30;

/** Notes who is without credits since when, and deletes those without any for 30 days. Returns how many were deleted. */
export async function forgetUncredited(db: Db): Promise<number> {
  await db.raw(
    `update people p set uncredited_since = null where p.uncredited_since is not null
       and exists (select from credits c where c.person_id = p.id)`,
  );
  await db.raw(
    `update people p set uncredited_since = now() where p.uncredited_since is null
       and not exists (select from credits c where c.person_id = p.id)`,
  );
  const gone = await db.raw<{ rowCount: number }>(
    `delete from people p where p.uncredited_since < now() - make_interval(days => ?)
       and not exists (select from credits c where c.person_id = p.id)`,
    [KEPT_DAYS],
  );
  return gone.rowCount;
}
