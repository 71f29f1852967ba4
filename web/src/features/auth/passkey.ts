// Passkeys by the browser's own JSON forms. They exist on secure pages alone: https, or localhost.

export const hasPasskeys = (): boolean =>
  window.isSecureContext &&
  'PublicKeyCredential' in window &&
  typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function';

/** Requests a passkey; `signal` ends the request when the person signs in another way. */
export async function getPasskey<Proof>(options: object, conditional?: AbortSignal): Promise<Proof> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON);
  const credential = (await navigator.credentials.get({
    publicKey,
    ...(conditional && { signal: conditional, mediation: 'conditional' as const }),
  })) as PublicKeyCredential;
  return credential.toJSON() as Proof;
}

/** Makes a passkey for an account. */
export async function createPasskey<Made>(options: object): Promise<Made> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON);
  const credential = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential;
  return credential.toJSON() as Made;
}

/** True when the browser offers passkeys in the list of a name field. */
export async function offersInField(): Promise<boolean> {
  return hasPasskeys() && ((await PublicKeyCredential.isConditionalMediationAvailable?.()) ?? false);
}

/** True for a request that the person cancelled, which is no failure. */
export const wasCancelled = (error: unknown): boolean =>
  error instanceof DOMException && ['NotAllowedError', 'AbortError'].includes(error.name);
