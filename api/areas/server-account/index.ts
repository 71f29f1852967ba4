import { defineArea } from '#kernel/endpoint.ts';
import { claimServer, getSetupClaim } from './claim.endpoints.ts';

export const serverAccountArea = defineArea('server-account', 'Server account', [getSetupClaim, claimServer]);
