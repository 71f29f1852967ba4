// What the operator may do. Each verb is used (test/cluster proves it); nothing is a wildcard.

export interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

const WATCHED = ['list', 'watch'];
/** Server-side apply makes with `create` and `patch`; a prune looks at the object itself before it deletes. */
const OWNED = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

/** What is never pruned: it goes with its owner, or stays. */
const KEPT = ['list', 'watch', 'create', 'patch'];

/** In the namespaces that are watched. */
export const rules: readonly Rule[] = [
  { apiGroups: ['foyer.media'], resources: ['mediaservers'], verbs: ['get', ...WATCHED] }, // before a Job is begun, and before a prune
  { apiGroups: ['foyer.media'], resources: ['libraries'], verbs: [...WATCHED, 'patch'] }, // finalizers
  { apiGroups: ['foyer.media'], resources: ['tunerdevices'], verbs: ['get', ...WATCHED, 'patch'] },
  {
    apiGroups: ['foyer.media'],
    resources: ['mediaservers/status', 'libraries/status', 'tunerdevices/status'],
    verbs: ['patch'],
  },
  // Asked for by clusters that guard owner references which block the deletion of the owner (OpenShift); libraries own nothing.
  { apiGroups: ['foyer.media'], resources: ['mediaservers/finalizers', 'tunerdevices/finalizers'], verbs: ['update'] },
  { apiGroups: [''], resources: ['configmaps', 'secrets', 'services'], verbs: OWNED },
  { apiGroups: [''], resources: ['serviceaccounts'], verbs: KEPT },
  { apiGroups: [''], resources: ['persistentvolumeclaims', 'pods'], verbs: WATCHED },
  { apiGroups: [''], resources: ['events'], verbs: [...WATCHED, 'create', 'patch'] }, // pods that cannot be made
  { apiGroups: ['apps'], resources: ['deployments', 'statefulsets'], verbs: OWNED },
  { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'], verbs: OWNED },
  { apiGroups: ['batch'], resources: ['jobs'], verbs: OWNED },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'networkpolicies'], verbs: OWNED },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: OWNED },
  // Where their definitions are installed, and a resource asks for them:
  { apiGroups: ['gateway.networking.k8s.io'], resources: ['httproutes'], verbs: OWNED },
  { apiGroups: ['monitoring.coreos.com'], resources: ['prometheusrules', 'servicemonitors'], verbs: OWNED },
  { apiGroups: ['postgresql.cnpg.io'], resources: ['clusters'], verbs: KEPT },
];

/** In the operator's own namespace: who leads. */
export const leaseRules: readonly Rule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];
