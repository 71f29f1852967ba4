export { countAttempt } from './attempts.ts';
export { Keep, Profile, SignIn } from './auth.schemas.ts';
export { addNewcomerPasskey, newcomerOptions } from './newcomer-passkey.ts';
export { CreationOptions, RegistrationResponse } from './passkeys.schemas.ts';
export { createOwnerReset, createReset } from './password-reset.ts';
export { refuseWeak } from './password-rules.ts';
export { hashPassword, passwordMatches } from './passwords.ts';
export { listProfiles } from './sessions.store.ts';
export { startSession } from './sign-in.ts';
