export { maskedAddress } from '../tuners/addresses.ts';
