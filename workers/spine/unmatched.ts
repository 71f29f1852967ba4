import { makeDue } from '#areas/editing/public.ts';
import { agentsByDefault } from '#areas/libraries/public.ts';
import { rowsOf } from '#platform/rows.ts';
import { queueDue } from '../metadata/queue.ts';
import type { Work } from '../work.ts';

const MOST = 1000;

/** Has the items refreshed that no source knew, since the pack may know them. */
export async function describeUnmatched(work: Work): Promise<void> {
  const { db } = work;
  const libraries = await db('libraries').whereNull('deleted_at').select('id', 'type', 'settings');
  for (const { id, type, settings } of libraries) {
    const agents = (settings as { agents?: string[] }).agents ?? agentsByDefault(type);
    if (!agents.includes('spine')) continue;
    for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
      work.signal.throwIfAborted();
      const rows = await rowsOf<{ id: string }>(
        db,
        `select i.id from items i left join item_matches m on m.item_id = i.id
          where i.library_id = ? and i.id > ? and not i.matched and i.trashed_at is null
            and coalesce(m.state, 'unmatched') <> 'local-only' order by i.id limit ${MOST}`,
        [id, after],
      );
      const last = rows.at(-1);
      if (!last) break;
      after = last.id;
      await db.transaction(async (tx) => {
        await makeDue(
          tx,
          rows.map((row) => row.id),
          { by: 'scan' },
        );
        await queueDue(work, tx, { libraryId: id });
      });
    }
  }
}
