// Licensing as the processes receive it: public keys, and the declared licence. Pure.
import { z } from 'zod';
import type { MediaServerSpec } from './schemas/media-server.ts';

/** The format that the processes read. */
const Key = z.looseObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.base64url().length(43),
  kid: z.string().max(200).optional(),
  iss: z.string().max(200).optional(),
});
const Jwks = z.object({ keys: z.array(Key).min(1).max(50) });

/** Key of the ConfigMap of spec.plus.verifierKeys. */
export const VERIFIER_KEY = 'jwks.json';

/** ConfigMaps that a resource references, by name and key. */
export type ConfigMaps = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** The verifier in force: inline, or from its ConfigMap. */
export function verifierOf({ plus }: PlusSpec, configMaps: ConfigMaps): string | undefined {
  const { jwks, configMapRef } = plus?.verifierKeys ?? {};
  return jwks ?? (configMapRef && configMaps.get(configMapRef.name)?.[VERIFIER_KEY]);
}

type PlusSpec = Pick<MediaServerSpec, 'plus'>;

/** Maximum length of one environment variable. */
const LENGTH_MAX = 65_536;

/** Why a verifier is invalid: processes would not start with it. A missing ConfigMap is reported elsewhere. */
export function verifierFault({ plus }: PlusSpec, configMaps: ConfigMaps): string | undefined {
  const { jwks, configMapRef } = plus?.verifierKeys ?? {};
  if (jwks !== undefined) return faultIn('spec.plus.verifierKeys.jwks', jwks);
  const data = configMapRef && configMaps.get(configMapRef.name);
  if (!data) return undefined;
  const text = data[VERIFIER_KEY];
  if (text === undefined) return `ConfigMap ${configMapRef.name} has no key ${VERIFIER_KEY}: add it`;
  return faultIn(`${VERIFIER_KEY} of ConfigMap ${configMapRef.name}`, text);
}

function faultIn(at: string, text: string): string | undefined {
  if (text.length > LENGTH_MAX) return `${at} is longer than ${LENGTH_MAX} characters`;
  return isVerifier(text) ? undefined : `${at} is not a JWK set of Ed25519 public keys`;
}

function isVerifier(text: string): boolean {
  try {
    const parsed = Jwks.safeParse(JSON.parse(text));
    return parsed.success && parsed.data.keys.every((key) => !('d' in key));
  } catch {
    return false;
  }
}

/** The licensing in force, as a message. */
export function plusMessage({ plus }: Pick<MediaServerSpec, 'plus'>): string {
  if (!plus?.verifierKeys) return 'No verifier: all features are available';
  const from = plus.licenceSecretRef
    ? `the licence of Secret ${plus.licenceSecretRef.name}`
    : 'the licence set in the app';
  return `spec.plus.verifierKeys checks ${from}`;
}

interface Values<V> {
  configMaps: ConfigMaps;
  secret: (ref: { name: string; key: string }) => V;
}

/** FOYER_PLUS_*. The verifier is public and passed by value, so that a change restarts the processes. */
export function plusEnvironment<V>(spec: PlusSpec, { configMaps, secret }: Values<V>): Record<string, V | string> {
  const licence = spec.plus?.licenceSecretRef;
  const verifier = verifierOf(spec, configMaps);
  return {
    ...(verifier !== undefined && { FOYER_PLUS_VERIFIER: verifier }),
    ...(licence && { FOYER_PLUS_LICENCE: secret(licence) }),
  };
}
