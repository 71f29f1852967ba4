// The permissions of the operator. Each verb is used (test/cluster proves it); there are no wildcards.

import type { PolicyRule } from '#operator/runtime/manifest.ts';

export type Rule = PolicyRule & { apiGroups: readonly string[]; resources: readonly string[] };

const WATCHED = ['list', 'watch'];
/** Server-side apply needs `create` and `patch`. A prune reads the object before it deletes it. */
const OWNED = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

/** Objects that are never pruned: garbage collection deletes them, or they stay. */
const KEPT = ['list', 'watch', 'create', 'patch'];

/** Permissions in the watched namespaces. */
export const rules: readonly Rule[] = [
  { apiGroups: ['foyer.media'], resources: ['mediaservers'], verbs: ['get', ...WATCHED] }, // read before a Job is created and before a prune
  { apiGroups: ['foyer.media'], resources: ['libraries'], verbs: [...WATCHED, 'patch'] }, // finalizers
  { apiGroups: ['foyer.media'], resources: ['tunerdevices'], verbs: ['get', ...WATCHED, 'patch'] },
  {
    apiGroups: ['foyer.media'],
    resources: ['mediaservers/status', 'libraries/status', 'tunerdevices/status'],
    verbs: ['patch'],
  },
  // OpenShift requires this for owner references with blockOwnerDeletion; libraries own no objects.
  { apiGroups: ['foyer.media'], resources: ['mediaservers/finalizers', 'tunerdevices/finalizers'], verbs: ['update'] },
  { apiGroups: [''], resources: ['configmaps', 'secrets', 'services'], verbs: OWNED },
  { apiGroups: [''], resources: ['serviceaccounts'], verbs: KEPT },
  { apiGroups: [''], resources: ['persistentvolumeclaims', 'pods'], verbs: WATCHED },
  { apiGroups: [''], resources: ['events'], verbs: [...WATCHED, 'create', 'patch'] }, // warnings about pods that cannot be created
  { apiGroups: ['apps'], resources: ['deployments', 'statefulsets'], verbs: OWNED },
  { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'], verbs: OWNED },
  { apiGroups: ['batch'], resources: ['jobs'], verbs: OWNED },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'networkpolicies'], verbs: OWNED },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: OWNED },
  // Kinds whose definitions may be installed, when a resource uses them:
  { apiGroups: ['gateway.networking.k8s.io'], resources: ['httproutes'], verbs: OWNED },
  { apiGroups: ['monitoring.coreos.com'], resources: ['prometheusrules', 'servicemonitors'], verbs: OWNED },
  { apiGroups: ['postgresql.cnpg.io'], resources: ['clusters'], verbs: KEPT },
];

/** Permissions in the operator's own namespace, for leader election. */
export const leaseRules: readonly Rule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];
