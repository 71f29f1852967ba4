import type { z } from 'zod';
import { getVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import { type Job, readJob } from '#areas/jobs/public.ts';
import { agentsByDefault } from '#areas/libraries/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalidAll } from '#kernel/errors.ts';
import { sha256 } from '#platform/keys.ts';
import type { RefreshPost } from './match.schemas.ts';
import { findMatch, type RefreshOptions, recordMatch } from './matches.store.ts';

/** Before those of scans. */
const PRIORITY = 20;

interface Refresh {
  children: boolean;
  options: RefreshOptions;
}

/** Queues the refresh of an item; the same one that waits already is returned with 200. */
export async function refreshItemNow(call: Call, id: string, body: RefreshPost): Promise<z.output<typeof Job>> {
  const item = await getVisibleItem(call.db, call.who, id);
  refuseUnknown(item, body.agents);
  if (body.probe) await refuseUnavailable(call, id);
  if (body.identify) await reopen(call, item);
  const { children, agents, mode, artwork, identify, probe } = body;
  const options = { mode, artwork, identify, probe, by: 'person', ...(agents && { agents }) } as const;
  const { jobId, isNew } = await queueItem(call, item, { children, options });
  if (!isNew) call.reply.status(200);
  return readJob(call, jobId);
}

/** Queues the job. Work that waits under the same key is the same work. */
export async function queueItem(
  call: Call,
  item: VisibleItem,
  { children, options }: Refresh,
): Promise<{ jobId: string; isNew: boolean }> {
  const key = `metadata.refresh:${item.id}:${sha256(JSON.stringify([children, options])).slice(0, 16)}`;
  const waiting = await call.db('jobs').where({ key }).whereIn('state', ['waiting', 'delayed']).first('id');
  const jobId = await call.enqueue(
    'metadata.refresh',
    { itemId: item.id, children, options: { ...options } },
    { key, priority: PRIORITY, libraryId: item.libraryId, target: { kind: 'item', id: item.id } },
  );
  return { jobId, isNew: waiting?.id !== jobId };
}

function refuseUnknown({ librarySettings, libraryType }: VisibleItem, agents: readonly string[] | undefined): void {
  const known = (librarySettings['agents'] as string[] | undefined) ?? agentsByDefault(libraryType, () => true);
  const issues = (agents ?? []).flatMap((id, at) =>
    known.includes(id)
      ? []
      : [{ path: ['body', 'agents', at], code: 'unknown_agent', message: 'the library has no such agent' }],
  );
  if (issues.length > 0) throw invalidAll(issues);
}

/** Throws 423 when the files of the item are on a storage that is unavailable. */
async function refuseUnavailable({ db }: Call, id: string): Promise<void> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select s.id from storages s where s.state <> 'available' and s.id in (
       select f.storage_id from media_files f join items i on i.id = f.item_id
       where i.id = ? or i.parent_id = ? or i.grandparent_id = ?) limit 1`,
    [id, id, id],
  );
  const [storage] = rows;
  if (storage) throw new ApiError('STORAGE_UNAVAILABLE', 'The storage is unavailable', { storageId: storage.id });
}

/** An item that is known by its files alone is identified again. */
async function reopen({ db }: Call, { id, libraryId }: VisibleItem): Promise<void> {
  const match = await findMatch(db, id);
  if (match?.state !== 'local-only') return;
  await recordMatch(db, { itemId: id, libraryId, state: 'unmatched', agent: null, confidence: null, by: null });
}
