export { SignIn } from './auth.schemas.ts';
export { createOwnerReset } from './password-reset.ts';
export { hashPassword, passwordMatches } from './passwords.ts';
export { startSession } from './sign-in.ts';
