// Options of the browser's `navigator.credentials`, as WebAuthn Level 3 names them. Their answers are verified in `verifier.ts`.
import { randomBytes } from 'node:crypto';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { MethodRow } from '../methods/methods.store.ts';

const TIMEOUT_MS = 300_000;
const ALGORITHMS = [-8, -7, -257]; // EdDSA, ES256, RS256

type UserVerification = 'required' | 'preferred';

const challenge = (): string => randomBytes(32).toString('base64url');

/** Passkeys as the browser names them. */
const described = (rows: readonly MethodRow[]) =>
  rows.map((row) => ({
    ...{ id: row.credential_id ?? '', type: 'public-key' as const },
    transports: (row.transports ?? []) as 'internal'[],
  }));

export interface NewPasskey {
  rp: { id: string; name: string };
  user: { id: Uint8Array; name: string; displayName: string };
  /** Passkeys that the account has. */
  have: readonly MethodRow[];
  userVerification: UserVerification;
}

/** Options to make a passkey, without an attestation of its device. */
export function creationOptions({
  rp,
  user,
  have,
  userVerification,
}: NewPasskey): PublicKeyCredentialCreationOptionsJSON {
  return {
    challenge: challenge(),
    rp,
    user: { ...user, id: Buffer.from(user.id).toString('base64url') },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
    timeout: TIMEOUT_MS,
    attestation: 'none',
    excludeCredentials: described(have),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification },
    extensions: { credProps: true },
    hints: [],
  };
}

/** Options to use a passkey: one of these, or any that the authenticator knows for the server. */
export function requestOptions(
  rpId: string,
  userVerification: UserVerification,
  rows?: readonly MethodRow[],
): PublicKeyCredentialRequestOptionsJSON {
  return {
    ...{ rpId, challenge: challenge(), timeout: TIMEOUT_MS, userVerification },
    ...(rows && { allowCredentials: described(rows) }),
  };
}
