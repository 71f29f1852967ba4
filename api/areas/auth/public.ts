export { hashPassword, passwordMatches } from './passwords.ts';
