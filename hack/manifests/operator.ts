// The objects of an install, built once for kustomize and once, with Helm's words in place of values, for the chart.
import { leaseRules, rules } from './rules.ts';

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: Record<string, unknown>;
  [member: string]: unknown;
}

export interface Choices {
  namespace: string;
  /** Arguments of the operator that say which namespaces it looks after; none is all. */
  scope: readonly string[];
  version: string;
  image: string;
  imagePullPolicy: string;
  postgres: string;
  redis: string;
  minio: string;
  logLevel: string;
  /** CIDRs, separated by commas. */
  clusterNetworks: string;
  replicas: unknown;
  resources: unknown;
  /** Further members of the pod's spec. */
  pod: Record<string, unknown>;
  /** Of the pods. */
  annotations: Record<string, unknown>;
}

const NAME = 'foyer-operator';
/** Of Node: a nursery that is small, yet holds what a pass leaves behind, and a heap that grows late, for a process that rests most of the time. */
export const FLAGS: readonly string[] = ['--optimize-for-size', '--max-semi-space-size=4'];
export const PROGRAM: readonly string[] = [...FLAGS, 'operator/bundle/main.js', 'cluster', '--leader-elect'];
/** Kubernetes fills the name in. */
export const OWN_NAMESPACE = '--namespace=$(FOYER_POD_NAMESPACE)';
const selector = { 'app.kubernetes.io/name': NAME };

const labels = ({ version }: Choices) => ({
  ...selector,
  'app.kubernetes.io/part-of': 'foyer',
  'app.kubernetes.io/version': version,
});
const meta = (choices: Choices, name = NAME) => ({ name, namespace: choices.namespace, labels: labels(choices) });
const subject = ({ namespace }: Choices) => [{ kind: 'ServiceAccount', name: NAME, namespace }];
const roleRef = (kind: 'Role' | 'ClusterRole', name = NAME) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
const RBAC = 'rbac.authorization.k8s.io/v1';

export const namespaceOf = (choices: Choices): Manifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: choices.namespace,
    labels: { ...labels(choices), 'pod-security.kubernetes.io/enforce': 'restricted' },
  },
});

/** Of the operator's own namespace; the Lease lies there. */
function lease(choices: Choices): Manifest[] {
  const name = `${NAME}-lease`;
  return [
    { apiVersion: RBAC, kind: 'Role', metadata: meta(choices, name), rules: leaseRules },
    {
      apiVersion: RBAC,
      kind: 'RoleBinding',
      metadata: meta(choices, name),
      roleRef: roleRef('Role', name),
      subjects: subject(choices),
    },
  ];
}

/** What it may do in its own namespace alone. */
export const namespacedAccess = (choices: Choices): Manifest[] => [
  { apiVersion: RBAC, kind: 'Role', metadata: meta(choices), rules },
  {
    apiVersion: RBAC,
    kind: 'RoleBinding',
    metadata: meta(choices),
    roleRef: roleRef('Role'),
    subjects: subject(choices),
  },
];

/** The same in all namespaces. */
export function clusterAccess(choices: Choices): Manifest[] {
  const metadata = { name: NAME, labels: labels(choices) };
  const binding = { apiVersion: RBAC, kind: 'ClusterRoleBinding', metadata, roleRef: roleRef('ClusterRole') };
  return [
    { apiVersion: RBAC, kind: 'ClusterRole', metadata, rules },
    { ...binding, subjects: subject(choices) },
  ];
}

function environment(choices: Choices): object[] {
  const plain = {
    FOYER_IMAGE: choices.image,
    FOYER_POSTGRES_IMAGE: choices.postgres,
    FOYER_REDIS_IMAGE: choices.redis,
    FOYER_MINIO_IMAGE: choices.minio,
    FOYER_LOG_LEVEL: choices.logLevel,
    FOYER_CLUSTER_NETWORKS: choices.clusterNetworks,
  };
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return [
    field('FOYER_POD_NAMESPACE', 'metadata.namespace'),
    ...Object.entries(plain).map(([name, value]) => ({ name, value })),
  ];
}

function container(choices: Choices): object {
  return {
    name: 'operator',
    image: choices.image,
    imagePullPolicy: choices.imagePullPolicy,
    args: [...PROGRAM, ...choices.scope],
    env: environment(choices),
    ports: [
      { name: 'metrics', containerPort: 8080 },
      { name: 'health', containerPort: 8081 },
    ],
    readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 5 },
    livenessProbe: { httpGet: { path: '/healthz', port: 'health' }, initialDelaySeconds: 10, periodSeconds: 10 },
    resources: choices.resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  };
}

function deployment(choices: Choices): Manifest {
  const metadata = { labels: labels(choices), annotations: choices.annotations };
  const securityContext = {
    runAsNonRoot: true,
    runAsUser: 1000,
    runAsGroup: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const spec = {
    serviceAccountName: NAME,
    terminationGracePeriodSeconds: 15,
    securityContext,
    ...choices.pod,
    containers: [container(choices)],
    volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta(choices),
    spec: { replicas: choices.replicas, selector: { matchLabels: selector }, template: { metadata, spec } },
  };
}

/** All but the namespace, the definitions and what the operator may do. */
export function operatorObjects(choices: Choices): Manifest[] {
  const ports = [{ name: 'metrics', port: 8080, targetPort: 'metrics' }];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: meta(choices) },
    ...lease(choices),
    { apiVersion: 'v1', kind: 'Service', metadata: meta(choices), spec: { selector, ports } },
    deployment(choices),
  ];
}
