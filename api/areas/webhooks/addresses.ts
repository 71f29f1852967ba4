import type { Config } from '#platform/config.ts';
import { createAddressCheck, createOutbound, type OutboundAsk, type OutboundSetting } from '#platform/outbound.ts';
import type { Settings } from '#platform/settings.ts';

/** Closed whatever the setting says; only `spec.network.allow.webhooks` of the MediaServer opens these. */
const NEVER = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '100.100.100.200/32',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/8',
  '2001::/32',
  '2002::/16',
  'fe80::/10',
  'fd00:ec2::/32',
  'ff00::/8',
];

const settingFor = (config: Config, more: OutboundSetting): OutboundSetting => ({
  ...more,
  deny: [...NEVER, ...config.clusterNetworks],
});

/** The way out for deliveries. `lookup` is for tests. */
export const webhookOutbound = (config: Config, more: OutboundSetting = {}) => createOutbound(settingFor(config, more));

/** Judges an address as it would be at sending. */
export const webhookAddressCheck = (config: Config, more: OutboundSetting = {}) =>
  createAddressCheck(settingFor(config, more));

/** Which networks are open to webhooks now. */
export function openNetworks(config: Config, settings: Settings): Pick<OutboundAsk, 'allow' | 'always'> {
  return { allow: settings.get('webhooks.allowedNetworks'), always: config.webhookNetworks };
}
