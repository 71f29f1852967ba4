import { z } from 'zod';
import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { ordered, unavailable } from '../tuners/orders.ts';
import { LiveTest } from './channels.schemas.ts';
import { getChannel } from './channels.view.ts';

/** Sixty seconds of tests, and the time of the job around them. */
const WITHIN_MS = 70_000;

const Tested = z.object({ busy: z.boolean(), results: z.array(LiveTest) });

/** Tests the sources of a channel on free slots. Throws 400, 404, 409 `tuners-busy` and 502 without a worker. */
export async function testChannel(
  call: Call,
  id: string,
  { sourceId, seconds }: { sourceId?: string | undefined; seconds: number },
): Promise<{ results: LiveTest[] }> {
  requireAllowed(call.who, 'liveTv');
  await getChannel(call, id);
  const sources = await call.db('live_sources').where({ channel_id: id }).orderBy(['position', 'id']).pluck('id');
  const sourceIds = sourceId === undefined ? sources : sources.filter((one) => one === sourceId);
  if (sourceId !== undefined && sourceIds.length === 0)
    throw invalid(['body', 'sourceId'], 'unknown_source', 'a source of the channel');
  const answer = await ordered(call, { do: 'test', sourceIds, seconds }, WITHIN_MS);
  if (!answer) throw unavailable('No worker tested the channel in time', 'no-worker');
  const { busy, results } = Tested.parse(answer);
  if (busy) throw conflict('tuners-busy', 'No slot of its tuners is free');
  return { results };
}
