// Job live.scan: reads a tuner, or does what a person waits for.
import { liveNetworks, liveOutbound, type Order, openOrder, type Tried } from '#areas/live-tv/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { ringOf } from '#platform/keys.ts';
import { OutboundRefused } from '#platform/outbound.ts';
import { findDevice } from '../tuner/discovery.ts';
import { FinalFailure, type Work } from '../work.ts';
import { type Broadcast, discoverDevices, EVERYWHERE } from './discover.ts';
import { NotItsKind, type Reach, tryLineup } from './lineup.ts';
import { scanTuner } from './scan-tuner.ts';
import { testSources } from './test-sources.ts';

const TRY_MS = 8000;

/** Replaces the network, for tests. */
export interface Seams {
  reach?: Partial<Reach>;
  broadcast?: Broadcast;
}

/** Handler of job `live.scan`. */
export function createLiveScan(seams: Seams = {}) {
  return async (payload: JobPayload<'live.scan'>, work: Work): Promise<unknown> => {
    if ('tunerId' in payload) return scanTuner(payload, work, seams.reach);
    const order = openOrder(await ringOf(work.config.keysFile), payload.order);
    if (!order) throw new FinalFailure('SEALED', 'No key of this server opens the order');
    return carriedOut(order, work, seams);
  };
}

async function carriedOut(order: Order, work: Work, seams: Seams): Promise<unknown> {
  const reach: Reach = {
    ...{ outbound: liveOutbound(work.config), networks: liveNetworks(work), objects: work.objects, find: findDevice },
    ...seams.reach,
    signal: work.signal,
  };
  if (order.do === 'test') return testSources(order, work);
  if (order.do === 'try') return tried(order.place, reach);
  const { allow = [], always = [] } = reach.networks;
  const local = { ...reach, networks: { ...reach.networks, only: [...allow, ...always] } };
  const broadcast = work.config.clusterNetworks.length > 0 ? undefined : (seams.broadcast ?? EVERYWHERE);
  return discoverDevices({ ...order, broadcast }, local);
}

async function tried(place: Extract<Order, { do: 'try' }>['place'], reach: Reach): Promise<Tried> {
  try {
    const { device, slotCount } = await tryLineup(place, reach, TRY_MS);
    return { ok: true, ...(device && { device }), ...(slotCount !== undefined && { slotCount }) };
  } catch (error) {
    return { ok: false, ...faultOf(error as Error) };
  }
}

/** Without the address, which may hold a credential. */
function faultOf(error: Error): { reason: 'address' | 'no-answer' | 'not-its-kind'; message: string } {
  if (error instanceof OutboundRefused && ['address', 'name', 'scheme', 'credentials'].includes(error.reason))
    return { reason: 'address', message: error.message };
  if (error instanceof NotItsKind) return { reason: 'not-its-kind', message: error.message };
  const { code } = error as NodeJS.ErrnoException;
  return { reason: 'no-answer', message: code ? `It does not answer: ${code}` : error.message };
}
