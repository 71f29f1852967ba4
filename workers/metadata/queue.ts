import { makeDue } from '#areas/editing/public.ts';
import { agentsByDefault } from '#areas/libraries/public.ts';
import { isCatalogue } from '#platform/agents/agent.ts';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { agentOf } from '#platform/agents/index.ts';
import type { Db } from '#platform/db.ts';
import { hasPack } from '#platform/spine/packs.store.ts';
import type { Work } from '../work.ts';

interface Added {
  library: { id: string; type: string; settings: { agents: readonly string[] } };
  itemIds: readonly string[];
}

/** Has added items described by agents, when the library has one that can be queried. In the caller's transaction. */
export async function queueRefresh(work: Work, db: Db, { library, itemIds }: Added): Promise<void> {
  if (itemIds.length === 0 || !(await mayQuery(work, library))) return;
  await makeDue(db, itemIds, { by: 'scan' });
  await queueDue(work, db, { libraryId: library.id });
}

async function mayQuery(work: Work, { type, settings }: Added['library']): Promise<boolean> {
  const catalogues = new Catalogues(work);
  const isDefault = settings.agents.join() === agentsByDefault(type).join();
  const agents = isDefault ? agentsByDefault(type, () => true) : settings.agents;
  if (agents.includes('spine') && (await hasPack(work.db))) return true;
  for (const id of agents) if (isCatalogue(id) && !(await catalogues.closedFor(agentOf(id)))) return true;
  return false;
}

/** Queues the job that refreshes whatever is due in a library. A person's refreshes go first. */
export async function queueDue(
  work: Pick<Work, 'enqueue'>,
  db: Db,
  { libraryId, runAt }: { libraryId: string; runAt?: Date },
): Promise<void> {
  await work.enqueue(db, 'metadata.refresh', {
    payload: { libraryId },
    options: {
      ...{ cause: 'scan', libraryId, target: { kind: 'library', id: libraryId }, priority: 70 },
      ...(runAt ? { runAt } : { key: `metadata.refresh:${libraryId}` }),
    },
  });
}
