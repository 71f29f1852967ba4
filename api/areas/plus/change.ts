import type { z } from 'zod';
import { displayNameOf } from '#areas/accounts/public.ts';
import { type Judged, judge, readLicence } from '#identity/licence.ts';
import { LICENCE_PLACE, plusOf, SUMMARY } from '#identity/plus.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { seal } from '#platform/keys.ts';
import type { PlusStatus, SetPlusLicence } from './plus.schemas.ts';
import { summaryOf } from './plus.store.ts';
import { statusOf } from './plus.view.ts';

const A_MINUTE = 10;

/** Installs a licence at once. One that opens no feature is refused with 400 and changes nothing. */
export async function install(
  call: Call,
  { licence: token, dryRun }: z.output<typeof SetPlusLicence>,
): Promise<z.input<typeof PlusStatus>> {
  const { db, deps, who } = call;
  const limiter = { redis: deps.redis, replicas: deps.config.replicas };
  await limitAttempts(limiter, `plus:${who.accountId}`, A_MINUTE);
  const verifier = deps.config.plusVerifier;
  if (!verifier) throw conflict('no-verifier', 'Everything is open: no verifier is configured');
  refuseManaged(call);
  const licence = await readLicence(token, verifier, deps.keys.serverId);
  const now = await databaseNow(call);
  const judged = judge(licence, now.getTime());
  const held = { ...(await heldNow(call, now)), emitted: null, noticed: null };
  if (dryRun) return statusOf(call, judged, held);
  refuseUseless(judged);
  await db('plus_licence').update({
    sealed: seal(deps.keys, token, LICENCE_PLACE),
    installed_at: now,
    installed_by: who.accountId,
    [SUMMARY]: summaryOf(judged),
    noticed: null,
  });
  const claims = licence.good ? licence.claims : undefined;
  await audit(call, 'plus.licence-installed', { id: claims?.jti, licensee: claims?.sub, features: claims?.features });
  await announce(call);
  return statusOf(call, judged, held);
}

/** Removes the licence; its features close at once. Does nothing without a licence. */
export async function remove(call: Call): Promise<void> {
  const { db } = call;
  refuseManaged(call);
  const cleared = {
    sealed: null,
    installed_at: null,
    installed_by: null,
    [SUMMARY]: summaryOf({ state: 'none' }),
    noticed: null,
  };
  const removed = await db('plus_licence').whereNotNull('sealed').update(cleared);
  if (removed === 0) return;
  await audit(call, 'plus.licence-removed', {});
  await announce(call);
}

async function announce({ emit, afterCommit, deps }: Call): Promise<void> {
  await emit('settings.changed', { keys: ['plus.licence'] });
  afterCommit(() => plusOf(deps).changed());
}

function refuseManaged({ deps }: Call): void {
  const { plusLicence, managedBy } = deps.config;
  if (plusLicence !== undefined)
    throw conflict('managed-by-resource', 'A Kubernetes resource holds the licence', {
      fields: ['licence'],
      managedBy,
    });
}

function refuseUseless({ state, invalidReason }: Judged): void {
  if (state === 'active' || state === 'grace') return;
  const reason = (invalidReason ?? state).replaceAll('-', '_');
  throw invalid(['body', 'licence'], `licence_${reason}`, `the licence opens nothing: ${invalidReason ?? state}`);
}

async function databaseNow({ db }: Call): Promise<Date> {
  const found = await db.raw<{ rows: { now: Date }[] }>('select now() as now');
  return found.rows[0]?.now ?? new Date();
}

async function heldNow({ db, who }: Call, now: Date) {
  const installedBy = { id: who.accountId, name: await displayNameOf(db, who.accountId) };
  return { installedAt: now, installedBy, readAtMs: now.getTime(), readAt: performance.now() };
}
