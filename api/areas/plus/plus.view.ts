import type { z } from 'zod';
import { describedAreas } from '#areas/server/public.ts';
import { GRACE_MS, type Judged, opens, type PlusFeature, plusFeatures } from '#identity/licence.ts';
import { type Held, plusOf } from '#identity/plus.ts';
import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import type { PlusFeatures, PlusLicence, PlusStatus } from './plus.schemas.ts';
import { plusLanguage } from './texts.ts';

type Status = z.input<typeof PlusStatus>;

export async function readStatus(call: Call): Promise<Status> {
  const { held, ...judged } = await plusOf(call.deps).current();
  return statusOf(call, judged, held);
}

/** Includes the licence itself only for callers with `settings:manage`. */
export function statusOf(call: Call, judged: Judged, held: Omit<Held, 'licence'> | undefined): Status {
  const { state, invalidReason } = judged;
  return {
    mode: state === 'open' ? 'open' : 'licensed',
    state,
    features: Object.fromEntries(plusFeatures.map((id) => [id, opens(judged, id)])) as Record<PlusFeature, boolean>,
    ...ends(judged),
    ...(held && shownLicence(call, judged, held)),
    ...(invalidReason && { invalidReason }),
    checkedAt: held ? isoOf(held.readAtMs) : iso(call.now),
    ...(state !== 'open' && declaredBy(call)),
  };
}

function ends({ licence }: Judged): Pick<Status, 'endsAt' | 'graceEndsAt'> {
  const endsMs = licence?.good ? licence.endsMs : undefined;
  return endsMs === undefined ? {} : { endsAt: isoOf(endsMs), graceEndsAt: isoOf(endsMs + GRACE_MS) };
}

function declaredBy({ deps }: Call): Pick<Status, 'managedBy'> {
  const { plusLicence, managedBy } = deps.config;
  return plusLicence !== undefined && managedBy ? { managedBy } : {};
}

function shownLicence({ who }: Call, { licence }: Judged, held: Omit<Held, 'licence'>): Pick<Status, 'licence'> {
  return licence?.good && may(who, 'settings:manage') ? { licence: toLicence(licence, held) } : {};
}

const isoOf = (ms: number): string => iso(new Date(ms));
const isoOfSeconds = (seconds: number): string => isoOf(seconds * 1000);

type Good = Extract<NonNullable<Judged['licence']>, { good: true }>;

function toLicence({ claims, keyId }: Good, held: Omit<Held, 'licence'>): z.input<typeof PlusLicence> {
  const { jti, sub, features, iat, nbf, exp, server } = claims;
  return {
    id: jti,
    licensee: sub,
    features,
    issuedAt: isoOfSeconds(iat),
    ...(nbf !== undefined && { startsAt: isoOfSeconds(nbf) }),
    ...(exp !== undefined && { expiresAt: isoOfSeconds(exp) }),
    ...(server !== undefined && { serverId: server }),
    keyId,
    installedAt: held.installedAt ? iso(held.installedAt) : isoOf(held.readAtMs),
    ...(held.installedBy && { installedBy: { userId: held.installedBy.id, displayName: held.installedBy.name } }),
  };
}

/** All features in the language of the caller, with the operations that declare them. */
export async function readFeatures(call: Call): Promise<z.input<typeof PlusFeatures>> {
  const { deps, who } = call;
  const judged = await plusOf(deps).current();
  const texts = plusLanguage(who.language ?? deps.settings.get('server.language'));
  const served = (await describedAreas()).flatMap(({ endpoints }) => endpoints);
  const operations = (id: PlusFeature): string[] =>
    served
      .filter(({ plus }) => (typeof plus === 'object' ? plus.partly : plus) === id)
      .map(({ operationId }) => operationId);
  const items = plusFeatures.map((id) => ({ id, ...texts[id], operations: operations(id), open: opens(judged, id) }));
  return { items };
}
