export { SignIn } from './auth.schemas.ts';
export { hashPassword, passwordMatches } from './passwords.ts';
export { startSession } from './sign-in.ts';
