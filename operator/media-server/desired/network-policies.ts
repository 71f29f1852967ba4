// Default deny, and the connections that each component needs.
import type { EgressRule, IngressRule, LabelSelector, Manifest, NetworkPolicyPeer } from '../../runtime/manifest.ts';
import type { Secrets } from '../../server-environment.ts';
import type { Server } from '../server.ts';
import { type Context, databaseKey, objectsSecret, redisKey } from './context.ts';
import { API_PORT, METRICS_PORT, PARSER_PORT, SPEECH_PORT } from './environment.ts';
import { type Component, metaOf, nameOf, selectorOf } from './meta.ts';
import { anywhere, blocks, internet, near, type Place, placeOf, tcp, toPlaces } from './network-peers.ts';
import { STORE_PORTS, type StoreName } from './stores.ts';

const STORES: readonly StoreName[] = ['postgres', 'redis', 'objects'];
/** Components that connect to the stores. */
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
/** Components that send uploaded files to the parser. */
const PARSER_CLIENTS: readonly string[] = ['api', 'workers'];
/** Components that decode media files and have no keys: the API reads remote files for them. */
const DECODERS: readonly string[] = ['transcode', 'subtitles'];
/** Components that connect to addresses outside the cluster, such as the bucket of a backup. */
const OUTGOING: readonly string[] = [...PARSER_CLIENTS, 'restore', 'backup'];
const DNS = { ports: [{ protocol: 'UDP', port: 53 }, ...tcp(53)] };

const anyOf = (server: Server, components: readonly string[]): LabelSelector => ({
  matchLabels: selectorOf(server),
  matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'In', values: components }],
});

interface Policy {
  suffix: string;
  component?: Component;
  pods: LabelSelector;
  ingress?: IngressRule[];
  egress?: EgressRule[];
}

function policy(server: Server, { suffix, component, pods, ingress, egress }: Policy): Manifest<'NetworkPolicy'> {
  const policyTypes = [...(ingress ? ['Ingress'] : []), ...(egress ? ['Egress'] : [])];
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metaOf(server, { suffix, ...(component && { component }) }),
    spec: { podSelector: pods, policyTypes, ...(ingress && { ingress }), ...(egress && { egress }) },
  };
}

/** All pods of the instance: no connections in or out. */
function deny(server: Server): Manifest<'NetworkPolicy'> {
  const made = policy(server, { suffix: 'default', pods: { matchLabels: selectorOf(server) } });
  return { ...made, spec: { podSelector: {}, ...made.spec, policyTypes: ['Ingress', 'Egress'] } };
}

/** DNS, for all components that open connections. */
const names = (server: Server): Manifest<'NetworkPolicy'> =>
  policy(server, {
    suffix: 'names',
    pods: {
      matchLabels: selectorOf(server),
      matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'NotIn', values: ['parser'] }],
    },
    egress: [DNS],
  });

/** It accepts connections from the components that accept uploads, and opens none. */
function parser(server: Server): Manifest<'NetworkPolicy'>[] {
  const pods = { matchLabels: selectorOf(server, 'parser') };
  const from = anyOf(server, PARSER_CLIENTS);
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

/** The API serves remote files on its metrics port to the components that decode, which reach no storage themselves. */
function relay(server: Server): Manifest<'NetworkPolicy'>[] {
  const pods = { matchLabels: selectorOf(server, 'api') };
  const from = anyOf(server, DECODERS);
  const ports = tcp(METRICS_PORT);
  return [
    policy(server, { suffix: 'relay', component: 'api', pods, ingress: [{ from: [{ podSelector: from }], ports }] }),
    policy(server, { suffix: 'relayed', pods: from, egress: [{ to: [{ podSelector: pods }], ports }] }),
  ];
}

/** Addresses of external stores. */
function foreignStores({ server, secrets }: Context): Place[] {
  const { postgres, redis, objects } = server.spec;
  const at = ({ name, key }: { name: string; key: string }) => placeOf(secrets.get(name)?.[key]);
  return [
    ...(postgres.secretRef ? at(databaseKey(server)) : []),
    ...(redis.secretRef ? at(redisKey(server)) : []),
    ...(objects.secretRef ? at({ name: objectsSecret(server), key: 'endpoint' }) : []),
  ];
}

/** By the label that CloudNativePG sets on the pods of a Cluster. */
function toCluster(server: Server): EgressRule[] {
  if (!server.spec.postgres.cloudNativePG) return [];
  const matchLabels = { 'cnpg.io/cluster': nameOf(server, 'postgres') };
  return [{ to: [{ podSelector: { matchLabels } }], ports: tcp(STORE_PORTS.postgres) }];
}

function toStores(context: Context): EgressRule[] {
  const { server } = context;
  const own = { to: [{ podSelector: anyOf(server, STORES) }], ports: tcp(...Object.values(STORE_PORTS)) };
  return [own, ...toCluster(server), ...toPlaces(foreignStores(context), anywhere, server)];
}

/** Metadata, mail, webhooks and push: the internet, and the networks that the resource allows. */
function outside({ spec }: Server): EgressRule[] {
  const { webhooks, imports, plugins, live } = spec.network.allow;
  const opened = [...new Set([...webhooks, ...imports, ...plugins, ...live])].sort();
  return [{ to: [...internet, ...blocks(opened)] }];
}

const SMTP_PORT = 587;

/** The mail server may be in the cluster or in the home network. */
function mailPlace({ spec }: Server, secrets: Secrets): Place[] {
  if (!spec.email) return [];
  const { host = '', port: given } = secrets.get(spec.email.secretRef.name) ?? {};
  const port = Number(given ?? SMTP_PORT);
  return Number.isInteger(port) && port > 0 && port < 65_536 ? [{ host, port }] : [];
}

/** Declared addresses that may be private: the sign-in provider, the buckets of media and backups, and the mail server. */
function toNamed(server: Server, secrets: Secrets): EgressRule[] {
  const { oidc, backup, media } = server.spec;
  const buckets = [...media.map(({ s3 }) => s3), backup?.destination.s3, backup?.copyTo?.s3];
  const addresses = [oidc?.issuer, ...buckets.map((s3) => s3?.endpoint)];
  return toPlaces([...addresses.flatMap(placeOf), ...mailPlace(server, secrets)], near, server);
}

/** The operator as a peer, in any namespace. */
export const OPERATOR: NetworkPolicyPeer = {
  namespaceSelector: {},
  podSelector: { matchLabels: { 'app.kubernetes.io/name': 'foyer-operator' } },
};

/**
 * The operator, and all namespaces once any of spec.monitoring is enabled: rules and dashboards need Prometheus too, whatever
 * configures its scraping.
 */
function metricsFrom({ spec }: Server): IngressRule {
  const from = Object.values(spec.monitoring).some(Boolean) ? [{ namespaceSelector: {} }] : [OPERATOR];
  return { from, ports: tcp(METRICS_PORT) };
}

/** The operator reads the state of each speech worker. */
const speech = (server: Server): Manifest<'NetworkPolicy'>[] =>
  server.spec.subtitles
    ? [
        policy(server, {
          suffix: 'subtitles',
          component: 'subtitles',
          pods: { matchLabels: selectorOf(server, 'subtitles') },
          ingress: [{ from: [OPERATOR], ports: tcp(SPEECH_PORT) }],
        }),
      ]
    : [];

export function networkPolicies(context: Context): Manifest<'NetworkPolicy'>[] {
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
    ...relay(server),
    ...speech(server),
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
