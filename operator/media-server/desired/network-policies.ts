// Default deny, and what each component needs.
import type { KubeObject } from '../../runtime/kube.ts';
import type { Secrets } from '../../server-environment.ts';
import type { Server } from '../server.ts';
import { type Context, databaseKey, objectsSecret, redisKey } from './context.ts';
import { API_PORT, METRICS_PORT, PARSER_PORT } from './environment.ts';
import { type Component, metaOf, nameOf, selectorOf } from './meta.ts';
import { anywhere, blocks, internet, near, type Place, placeOf, tcp, toPlaces } from './network-peers.ts';
import { STORE_PORTS, type StoreName } from './stores.ts';

const STORES: readonly StoreName[] = ['postgres', 'redis', 'objects'];
/** Those of the product's processes that talk to its stores. */
const CLIENTS: readonly string[] = [
  'api',
  'workers',
  'transcode',
  'subtitles',
  'migrate',
  'recovery',
  'restore',
  'backup',
  'tuner',
];
/** Those that take in what others made. */
const ASKERS: readonly string[] = ['api', 'workers'];
/** Those that reach beyond the cluster: a backup may lie in a bucket outside. */
const OUTGOING: readonly string[] = [...ASKERS, 'restore', 'backup'];
const DNS = { ports: [{ protocol: 'UDP', port: 53 }, ...tcp(53)] };

const anyOf = (server: Server, components: readonly string[]): object => ({
  matchLabels: selectorOf(server),
  matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'In', values: components }],
});

interface Policy {
  suffix: string;
  component?: Component;
  pods: object;
  ingress?: object[];
  egress?: object[];
}

function policy(server: Server, { suffix, component, pods, ingress, egress }: Policy): KubeObject {
  const policyTypes = [...(ingress ? ['Ingress'] : []), ...(egress ? ['Egress'] : [])];
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metaOf(server, { suffix, ...(component && { component }) }),
    spec: { podSelector: pods, policyTypes, ...(ingress && { ingress }), ...(egress && { egress }) },
  };
}

/** All pods of the instance: nothing in and nothing out. */
function deny(server: Server): KubeObject {
  const made = policy(server, { suffix: 'default', pods: { matchLabels: selectorOf(server) } });
  return { ...made, spec: { ...(made.spec as object), policyTypes: ['Ingress', 'Egress'] } };
}

/** All that call somebody. */
const names = (server: Server): KubeObject =>
  policy(server, {
    suffix: 'names',
    pods: {
      matchLabels: selectorOf(server),
      matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'NotIn', values: ['parser'] }],
    },
    egress: [DNS],
  });

/** It is asked by those that take in what others made, and asks nobody. */
function parser(server: Server): KubeObject[] {
  const pods = { matchLabels: selectorOf(server, 'parser') };
  const from = anyOf(server, ASKERS);
  return [
    policy(server, {
      suffix: 'parser',
      component: 'parser',
      pods,
      ingress: [{ from: [{ podSelector: from }], ports: tcp(PARSER_PORT) }, metricsFrom(server)],
    }),
    policy(server, { suffix: 'asks', pods: from, egress: [{ to: [{ podSelector: pods }], ports: tcp(PARSER_PORT) }] }),
  ];
}

/** Of stores that somebody else runs. */
function foreignStores({ server, secrets }: Context): Place[] {
  const { postgres, redis, objects } = server.spec;
  const at = ({ name, key }: { name: string; key: string }) => placeOf(secrets.get(name)?.[key]);
  return [
    ...(postgres.secretRef ? at(databaseKey(server)) : []),
    ...(redis.secretRef ? at(redisKey(server)) : []),
    ...(objects.secretRef ? at({ name: objectsSecret(server), key: 'endpoint' }) : []),
  ];
}

/** CloudNativePG marks the pods of a Cluster so. */
function toCluster(server: Server): object[] {
  if (!server.spec.postgres.cloudNativePG) return [];
  const matchLabels = { 'cnpg.io/cluster': nameOf(server, 'postgres') };
  return [{ to: [{ podSelector: { matchLabels } }], ports: tcp(STORE_PORTS.postgres) }];
}

function toStores(context: Context): object[] {
  const { server } = context;
  const own = { to: [{ podSelector: anyOf(server, STORES) }], ports: tcp(...Object.values(STORE_PORTS)) };
  return [own, ...toCluster(server), ...toPlaces(foreignStores(context), anywhere, server)];
}

/** Metadata, mail, webhooks, push: the internet, and of other networks those that the resource opens. */
function outside({ spec }: Server): object[] {
  const { webhooks, imports, plugins, live } = spec.network.allow;
  const opened = [...new Set([...webhooks, ...imports, ...plugins, ...live])].sort();
  return [{ to: [...internet, ...blocks(opened)] }];
}

const SMTP_PORT = 587;

/** A relay may stand in the cluster or in the house. */
function mailPlace({ spec }: Server, secrets: Secrets): Place[] {
  if (!spec.email) return [];
  const { host = '', port: given } = secrets.get(spec.email.secretRef.name) ?? {};
  const port = Number(given ?? SMTP_PORT);
  return Number.isInteger(port) && port > 0 && port < 65_536 ? [{ host, port }] : [];
}

/** Like the provider that people sign in at and the buckets of backups. */
function toNamed(server: Server, secrets: Secrets): object[] {
  const { oidc, backup } = server.spec;
  const addresses = [oidc?.issuer, backup?.destination.s3.endpoint, backup?.copyTo?.s3.endpoint];
  return toPlaces([...addresses.flatMap(placeOf), ...mailPlace(server, secrets)], near, server);
}

/** As a peer, wherever it runs. */
export const OPERATOR = {
  namespaceSelector: {},
  podSelector: { matchLabels: { 'app.kubernetes.io/name': 'foyer-operator' } },
};

/** The operator, and Prometheus once any of spec.monitoring is asked for: rules and panels need it too, whoever tells it to look. */
function metricsFrom({ spec }: Server): object {
  const from = Object.values(spec.monitoring).some(Boolean) ? [{ namespaceSelector: {} }] : [OPERATOR];
  return { from, ports: tcp(METRICS_PORT) };
}

export function networkPolicies(context: Context): KubeObject[] {
  const { server, secrets } = context;
  if (!server.spec.networkPolicy.enabled) return [];
  const stores = STORES.filter((name) => server.spec[name].managed);
  return [
    deny(server),
    names(server),
    ...parser(server),
    policy(server, {
      suffix: 'api',
      component: 'api',
      pods: { matchLabels: selectorOf(server, 'api') },
      ingress: [{ ports: tcp(API_PORT) }],
    }),
    policy(server, { suffix: 'metrics', pods: anyOf(server, CLIENTS), ingress: [metricsFrom(server)] }),
    policy(server, { suffix: 'stores', pods: anyOf(server, CLIENTS), egress: toStores(context) }),
    policy(server, {
      suffix: 'outside',
      pods: anyOf(server, OUTGOING),
      egress: [...outside(server), ...toNamed(server, secrets)],
    }),
    ...stores.map((name) =>
      policy(server, {
        suffix: name,
        component: name,
        pods: { matchLabels: selectorOf(server, name) },
        ingress: [{ from: [{ podSelector: anyOf(server, CLIENTS) }], ports: tcp(STORE_PORTS[name]) }],
      }),
    ),
  ];
}
