import { z } from 'zod';
import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { type Redis, withoutFail } from '#platform/redis.ts';
import { ordered, unavailable } from './orders.ts';
import { type Discovered, TunerFound } from './tuners.schemas.ts';
import { listTunerRows, secretsOf } from './tuners.store.ts';

const LOCK = 'foyer:live:discovering';
/** Beyond the time for answers: a job that starts, and many addresses. */
const MORE_MS = 15_000;

const NOT_HEARD =
  'No broadcast: in a cluster the server stands outside of the home network. Name the address of a device, or its network.';

const Found = z.object({
  items: z.array(TunerFound.omit({ knownTunerId: true })),
  broadcast: z.boolean(),
  refused: z.array(z.string()),
});

/** Devices that answer. Throws 400 for closed addresses, 409 while another search runs, 502 without a worker. */
export async function discover(
  call: Call,
  order: { addresses: string[]; timeoutMs: number },
): Promise<z.input<typeof Discovered>> {
  requireAllowed(call.who, 'liveTv');
  const { redis } = call.deps;
  await begin(redis, order.timeoutMs + MORE_MS);
  try {
    const answer = await ordered(call, { do: 'discover', ...order }, order.timeoutMs + MORE_MS);
    if (!answer) throw unavailable('No worker looked for tuners in time', 'no-worker');
    const { items, broadcast, refused } = Found.parse(answer);
    if (refused.length > 0)
      throw invalid(
        ['body', 'addresses'],
        'address_not_allowed',
        `not reached from here: ${refused.slice(0, 5).join(', ')}`,
      );
    return { items: await known(call, items), broadcast, ...(!broadcast && { note: NOT_HEARD }) };
  } finally {
    await withoutFail(() => redis.del(LOCK), 0);
  }
}

async function begin(redis: Redis, ms: number): Promise<void> {
  const taken = await withoutFail(() => redis.set(LOCK, '1', 'PX', ms, 'NX'), 'OK');
  if (taken !== 'OK') throw conflict('already-running', 'Another search for tuners runs');
}

async function known({ db, deps }: Call, items: z.output<typeof Found>['items']) {
  const rows = (await listTunerRows(db)).filter(({ kind }) => kind === 'hdhomerun');
  const hosts = new Map(rows.flatMap((row) => hostOf(secretsOf(deps.keys, row)?.url, row.id)));
  return items.map((item) => {
    const same = rows.find(
      ({ device, device_id: id }) => item.deviceId !== '' && [device?.id, id].includes(item.deviceId),
    );
    const knownTunerId = same?.id ?? hosts.get(new URL(item.url).host);
    return { ...item, ...(knownTunerId && { knownTunerId }) };
  });
}

const hostOf = (url: string | undefined, id: string): [string, string][] => (url ? [[new URL(url).host, id]] : []);
