// Parts that a server may do without: licensing, branding, backups, monitoring; and those that are asked for in vain. Pure.
import { backupVerdict } from '../backup-verdict.ts';
import { declaredVerdicts } from '../declared/verdict.ts';
import { plusSaid, verifierFault } from '../plus-environment.ts';
import type { Verdict } from '../schemas/conditions.ts';
import { asksForPlugins } from '../schemas/media-server.ts';
import { type Looked, no, yes } from './checks.ts';

const declaredBy = ({ configMapRef }: { configMapRef: { name: string } }): string =>
  `ConfigMap ${configMapRef.name} goes before what is set in the app; what is not valid in it is left out, and logged`;

function plusVerdict({ server: { spec }, seen }: Looked): Verdict {
  const fault = verifierFault(spec, seen.configMaps);
  return { type: 'PlusReady', ...(fault ? no('SpecInvalid', fault) : yes('Valid', plusSaid(spec))) };
}

/** Where it is asked for: a rule or a monitor needs the definitions of the Prometheus operator. */
function monitoring({ server, seen }: Looked): Verdict[] {
  const { serviceMonitor, prometheusRule, dashboard } = server.spec.monitoring;
  if (![serviceMonitor, prometheusRule, dashboard].some(Boolean)) return [];
  const asked = { ServiceMonitor: serviceMonitor, PrometheusRule: prometheusRule };
  const absent = Object.entries(asked).flatMap(([kind, wanted]) => (wanted && !seen.served.has(kind) ? [kind] : []));
  const message = `no ${absent.join(' and no ')} is made: install the definitions of the Prometheus operator`;
  return [
    {
      type: 'MonitoringReady',
      ...(absent.length > 0 ? no('NotServed', message) : yes('Valid', 'What is asked for is made')),
    },
  ];
}

/** Asked for, and this version does not do it; and backups, what is declared, branding and licensing, which it does. */
export function notServed(looked: Looked): Verdict[] {
  const { server, seen } = looked;
  const { plugins, plus, branding, declared } = server.spec;
  const say = (type: string, asked: boolean, field: string): Verdict => ({
    type,
    ...(asked
      ? no('NotServed', `spec.${field} is kept, and this version does nothing with it yet`)
      : no('NoneAsked', `spec.${field} is absent`)),
  });
  return [
    say('PluginsReady', asksForPlugins(plugins), 'plugins'),
    backupVerdict(server.spec, seen.api.backup),
    ...declaredVerdicts(declared, seen.declared),
    ...monitoring(looked),
    ...(plus ? [plusVerdict(looked)] : []),
    ...(branding ? [{ type: 'BrandingReady', ...yes('Valid', declaredBy(branding)) }] : []),
  ];
}
