// Background workers.
import type { Manifest } from '../../runtime/manifest.ts';
import type { Context } from './context.ts';
import { parserEnvironment, volumesEnvironment } from './environment.ts';
import { metaOf, selectorOf } from './meta.ts';
import { brandingParts, foyerPod, metricsPort, metricsProbes, sized } from './pod.ts';

const component = 'workers';

export function workersDeployment(context: Context): Manifest<'Deployment'> {
  const { server } = context;
  const { replicas, resources } = server.spec.workers;
  const { env, ...branding } = brandingParts(server.spec); // for mail
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metaOf(server, { suffix: component, component }),
    spec: {
      replicas,
      revisionHistoryLimit: 3,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: selectorOf(server, component) },
      template: foyerPod(context, {
        component,
        args: ['workers/main.ts'],
        resources: resources ?? sized('100m', '256Mi', { cpu: '2', memory: '1Gi' }),
        env: { ...parserEnvironment(server), ...volumesEnvironment(server), ...env },
        ports: [metricsPort],
        probes: metricsProbes,
        ...branding,
        grace: 30,
      }),
    },
  };
}
