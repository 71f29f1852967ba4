import type { Config } from '../config.ts';
import { NEVER_CALLED } from '../never-called.ts';
import { createOutbound, type Outbound, type OutboundOptions } from '../outbound.ts';
import type { Settings } from '../settings.ts';

/** Requests for packs and their list: public addresses alone, or those that `metadata.allowedNetworks` opens. */
export const spineOutbound = (config: Config): Outbound =>
  createOutbound({ deny: [...NEVER_CALLED, ...config.clusterNetworks, ...config.apiServerNetworks] });

/** An offline server reaches a mirror in its own networks alone. */
export function spineNetworks(settings: Settings): Pick<OutboundOptions, 'allow' | 'only'> {
  const allow = settings.get('metadata.allowedNetworks');
  return settings.get('network.offline') ? { allow, only: allow } : { allow };
}
