// The pool that parses uploaded files. It has no Secret, no volume and no outgoing connections.
import type { Manifest, Probe } from '../../runtime/manifest.ts';
import { NODE_OPTIONS } from '../../server-environment.ts';
import type { Server } from '../server.ts';
import type { Context } from './context.ts';
import { METRICS_PORT, PARSER_PORT } from './environment.ts';
import { metaOf, selectorOf } from './meta.ts';
import { foyerPod, metricsPort, sized } from './pod.ts';

const part = { suffix: 'parser', component: 'parser' } as const;

const probe = (path: string, times: Probe): Probe => ({
  httpGet: { path, port: 'parser' },
  timeoutSeconds: 5,
  ...times,
});

/** Ready once it has decoded a test picture. */
const probes = {
  startupProbe: probe('/ready', { periodSeconds: 2, failureThreshold: 60 }),
  livenessProbe: probe('/live', { periodSeconds: 20, failureThreshold: 3 }),
  readinessProbe: probe('/ready', { periodSeconds: 5, failureThreshold: 2 }),
};

export function parserDeployment(context: Context): Manifest<'Deployment'> {
  const { server } = context;
  const { replicas, resources } = server.spec.parser;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metaOf(server, part),
    spec: {
      replicas,
      revisionHistoryLimit: 3,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: selectorOf(server, 'parser') },
      template: foyerPod(context, {
        component: 'parser',
        args: ['workers/parser/main.ts'],
        jailed: true,
        env: {
          NODE_ENV: 'production',
          NODE_OPTIONS,
          FOYER_HOST: '0.0.0.0',
          FOYER_PORT: String(PARSER_PORT),
          FOYER_METRICS_PORT: String(METRICS_PORT),
        },
        // Two pictures at once of up to 1 GiB each, in addition to the main process.
        resources: resources ?? sized('50m', '128Mi', { cpu: '2', memory: '2304Mi' }),
        ports: [{ name: 'parser', containerPort: PARSER_PORT, protocol: 'TCP' }, metricsPort],
        probes,
        grace: 70, // time to finish one picture
      }),
    },
  };
}

export const parserService = (server: Server): Manifest<'Service'> => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metaOf(server, part),
  spec: {
    type: 'ClusterIP',
    selector: selectorOf(server, 'parser'),
    ports: [{ name: 'parser', port: PARSER_PORT, targetPort: 'parser', protocol: 'TCP' }],
  },
});
