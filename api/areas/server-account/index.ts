import { defineArea } from '#kernel/endpoint.ts';
import { claimServer, getSetupClaim } from './claim.endpoints.ts';
import { acceptServerClaim, cancelServerClaim, getServerClaim, offerServerClaim } from './ownership.endpoints.ts';

export const serverAccountArea = defineArea('server-account', 'Server account', [
  getSetupClaim,
  claimServer,
  getServerClaim,
  offerServerClaim,
  acceptServerClaim,
  cancelServerClaim,
]);
