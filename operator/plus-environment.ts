// Licensing as the processes are told of it: public keys, and the licence that a resource declares. Pure.
import { z } from 'zod';
import type { MediaServerSpec } from './schemas/media-server.ts';

const Jwks = z.object({
  keys: z.array(z.looseObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() })).min(1),
});

/** Key of the ConfigMap of spec.plus.verifierKeys. */
export const VERIFIER_KEY = 'jwks.json';

/** Why an inline verifier is none: pods would not start with it. */
export function verifierFault({ plus }: Pick<MediaServerSpec, 'plus'>): string | undefined {
  const jwks = plus?.verifierKeys?.jwks;
  if (jwks === undefined) return undefined;
  return isVerifier(jwks) ? undefined : 'spec.plus.verifierKeys.jwks is no JWK set of Ed25519 public keys';
}

function isVerifier(text: string): boolean {
  try {
    const parsed = Jwks.safeParse(JSON.parse(text));
    return parsed.success && parsed.data.keys.every((key) => !('d' in key));
  } catch {
    return false;
  }
}

/** What is in force, in words. */
export function plusSaid({ plus }: Pick<MediaServerSpec, 'plus'>): string {
  if (!plus?.verifierKeys) return 'No verifier: everything is open';
  const from = plus.licenceSecretRef
    ? `the licence of Secret ${plus.licenceSecretRef.name}`
    : 'the licence set in the app';
  return `spec.plus.verifierKeys checks ${from}`;
}

interface Values<V> {
  text: (jwks: string) => V;
  configMap: (name: string) => V;
  secret: (ref: { name: string; key: string }) => V;
}

/** FOYER_PLUS_*, with values as the place has them. */
export function plusEnvironment<V>({ plus }: Pick<MediaServerSpec, 'plus'>, make: Values<V>): Record<string, V> {
  const { verifierKeys: keys, licenceSecretRef: licence } = plus ?? {};
  return {
    ...(keys?.jwks !== undefined && { FOYER_PLUS_VERIFIER: make.text(keys.jwks) }),
    ...(keys?.configMapRef && { FOYER_PLUS_VERIFIER: make.configMap(keys.configMapRef.name) }),
    ...(licence && { FOYER_PLUS_LICENCE: make.secret(licence) }),
  };
}
