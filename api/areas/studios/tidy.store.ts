import type { Db } from '#platform/db.ts';

/** Days that a studio stays without any item. */
const KEPT_DAYS = 30;

const USED = `exists (select from item_tags t where t.kind = 'studio' and t.tag_id = s.id)`;

/** Notes which studios are without items since when, and deletes those without any for 30 days. Returns how many were deleted. */
export async function forgetUnused(db: Db): Promise<number> {
  await db.raw(`update studios s set unused_since = null where s.unused_since is not null and ${USED}`);
  await db.raw(`update studios s set unused_since = now() where s.unused_since is null and not ${USED}`);
  const gone = await db.raw<{ rowCount: number }>(
    `delete from studios s where s.unused_since < now() - make_interval(days => ?) and not ${USED}`,
    [KEPT_DAYS],
  );
  return gone.rowCount;
}
