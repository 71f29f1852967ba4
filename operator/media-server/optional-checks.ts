// Optional parts: licensing, branding, backups and monitoring, and features that are not available. Pure.
import { backupVerdict } from '../backup-verdict.ts';
import { declaredVerdicts } from '../declared/verdict.ts';
import { plusMessage, verifierFault } from '../plus-environment.ts';
import type { Verdict } from '../schemas/conditions.ts';
import { declaresPlugins } from '../schemas/media-server.ts';
import { type CheckInput, no, yes } from './checks.ts';

const declaredBy = ({ configMapRef }: { configMapRef: { name: string } }): string =>
  `ConfigMap ${configMapRef.name} overrides the settings of the app; invalid values are ignored and logged`;

function plusVerdict({ server: { spec }, observed }: CheckInput): Verdict {
  const fault = verifierFault(spec, observed.configMaps);
  return { type: 'PlusReady', ...(fault ? no('SpecInvalid', fault) : yes('Valid', plusMessage(spec))) };
}

/** Where the spec enables it: rules and monitors require the CRDs of the Prometheus operator. */
function monitoring({ server, observed }: CheckInput): Verdict[] {
  const { serviceMonitor, prometheusRule, dashboard } = server.spec.monitoring;
  if (![serviceMonitor, prometheusRule, dashboard].some(Boolean)) return [];
  const enabled = { ServiceMonitor: serviceMonitor, PrometheusRule: prometheusRule };
  const absent = Object.entries(enabled).flatMap(([kind, wanted]) =>
    wanted && !observed.served.has(kind) ? [kind] : [],
  );
  const message = `${absent.join(' and ')} cannot be created: install the CRDs of the Prometheus operator`;
  return [
    {
      type: 'MonitoringReady',
      ...(absent.length > 0 ? no('NotServed', message) : yes('Valid', 'All enabled objects exist')),
    },
  ];
}

/** Plugins are not available in this version; backups, declarations, monitoring, licensing and branding are. */
export function notServed(input: CheckInput): Verdict[] {
  const { server, observed } = input;
  const { plugins, plus, branding, declared } = server.spec;
  const say = (type: string, enabled: boolean, field: string): Verdict => ({
    type,
    ...(enabled
      ? no('NotServed', `spec.${field} is stored, and this version does not use it yet`)
      : no('NoneAsked', `spec.${field} is absent`)),
  });
  return [
    say('PluginsReady', declaresPlugins(plugins), 'plugins'),
    backupVerdict(server.spec, observed.api.backup),
    ...declaredVerdicts(declared, observed.declared),
    ...monitoring(input),
    ...(plus ? [plusVerdict(input)] : []),
    ...(branding ? [{ type: 'BrandingReady', ...yes('Valid', declaredBy(branding)) }] : []),
  ];
}
