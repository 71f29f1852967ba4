import type { Config } from '#platform/config.ts';
import { NEVER_CALLED } from '#platform/never-called.ts';
import { createAddressCheck, createOutbound, type OutboundOptions, type OutboundSetting } from '#platform/outbound.ts';
import type { Settings } from '#platform/settings.ts';

const settingFor = (config: Config, more: OutboundSetting): OutboundSetting => ({
  ...more,
  // only `spec.network.allow.webhooks` of the MediaServer permits these
  deny: [...NEVER_CALLED, ...config.clusterNetworks],
});

/** The outbound client for deliveries. `lookup` is for tests. */
export const webhookOutbound = (config: Config, more: OutboundSetting = {}) => createOutbound(settingFor(config, more));

/** Checks an address by the rules of sending. */
export const webhookAddressCheck = (config: Config, more: OutboundSetting = {}) =>
  createAddressCheck(settingFor(config, more));

/** Networks that webhooks may reach now. */
export function openNetworks(config: Config, settings: Settings): Pick<OutboundOptions, 'allow' | 'always'> {
  return { allow: settings.get('webhooks.allowedNetworks'), always: config.webhookNetworks };
}
