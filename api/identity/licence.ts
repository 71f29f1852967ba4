import { type CryptoKey, compactVerify, decodeJwt, decodeProtectedHeader, importJWK } from 'jose';
import { z } from 'zod';
import type { PlusKey } from '#platform/config.ts';

export const plusFeatures = ['dvr', 'downloads', 'watch-together', 'sonic', 'remote-backup'] as const;
export type PlusFeature = (typeof plusFeatures)[number];

const Seconds = z.number().min(0).max(8e12);
const Claims = z.object({
  iss: z.string().min(1).max(200),
  sub: z.string().min(1).max(200),
  jti: z.string().min(1).max(200),
  iat: Seconds,
  nbf: Seconds.optional(),
  exp: Seconds.optional(),
  features: z
    .array(z.enum([...plusFeatures, 'all']))
    .min(1)
    .max(20),
  server: z.string().min(1).max(100).optional(),
});
export type LicenceClaims = z.output<typeof Claims>;

export const invalidReasons = ['signature', 'issuer', 'server', 'not-yet', 'malformed', 'unknown-key'] as const;
export type InvalidReason = (typeof invalidReasons)[number];

/** Content of a licence with a valid signature, or the reason why it is invalid; times are checked at each use. */
export type Licence =
  | { good: true; claims: LicenceClaims; keyId: string; endsMs: number | undefined }
  | { good: false; reason: InvalidReason };

const bad = (reason: InvalidReason): Licence => ({ good: false, reason });

/** Verifies a licence offline by the public keys of the deployment, without its times. */
export async function readLicence(token: string, verifier: readonly PlusKey[], serverId: string): Promise<Licence> {
  const header = headerOf(token);
  if (header?.alg !== 'EdDSA' || header.typ !== 'foyer-licence') return bad('malformed');
  const keys = verifier.filter(({ kid }) => header.kid === undefined || kid === header.kid);
  if (keys.length === 0) return bad('unknown-key');
  const key = await signedBy(token, keys);
  if (!key) return bad('signature');
  return signedLicence(claimsOf(token), key, serverId);
}

/** The licence in a payload that `key` signed. */
function signedLicence(signed: unknown, key: PlusKey, serverId: string): Licence {
  const { success, data: claims } = Claims.safeParse(signed);
  if (!success) return bad('malformed');
  if (key.iss !== undefined && key.iss !== claims.iss) return bad('issuer');
  if (claims.server !== undefined && claims.server !== serverId) return bad('server');
  const endsMs = claims.exp === undefined ? undefined : claims.exp * 1000;
  return { good: true, claims, keyId: key.kid ?? '', endsMs };
}

function headerOf(token: string) {
  try {
    return decodeProtectedHeader(token);
  } catch {
    return undefined;
  }
}

function claimsOf(token: string): unknown {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

async function signedBy(token: string, keys: readonly PlusKey[]): Promise<PlusKey | undefined> {
  for (const key of keys) {
    const { kty, crv, x } = key;
    const imported = (await importJWK({ kty, crv, x }, 'EdDSA')) as CryptoKey;
    const verified = await compactVerify(token, imported, { algorithms: ['EdDSA'] }).catch(() => undefined);
    if (verified) return key;
  }
  return undefined;
}

export const GRACE_MS = 14 * 86_400_000;

export type PlusState = 'open' | 'none' | 'active' | 'grace' | 'lapsed' | 'invalid';

export interface Judged {
  state: PlusState;
  licence?: Licence;
  invalidReason?: InvalidReason;
}

/** State of the licence at this time in epoch milliseconds. */
export function judge(licence: Licence | undefined, nowMs: number): Judged {
  if (!licence) return { state: 'none' };
  if (!licence.good) return { state: 'invalid', licence, invalidReason: licence.reason };
  if (licence.claims.nbf !== undefined && nowMs < licence.claims.nbf * 1000)
    return { state: 'invalid', licence, invalidReason: 'not-yet' };
  const { endsMs } = licence;
  if (endsMs === undefined || nowMs < endsMs) return { state: 'active', licence };
  return { state: nowMs < endsMs + GRACE_MS ? 'grace' : 'lapsed', licence };
}

/** Whether the feature is open: in the states open, active and grace. */
export function opens({ state, licence }: Judged, feature: PlusFeature): boolean {
  if (state === 'open') return true;
  if (!licence?.good || (state !== 'active' && state !== 'grace')) return false;
  return licence.claims.features.includes('all') || licence.claims.features.includes(feature);
}
