// Types of the Kubernetes objects that this repository builds. They come from @kubernetes/client-node, as types alone: the library
// itself is not loaded.
import type * as client from '@kubernetes/client-node';

/**
 * An object of client-node as JSON. The library spells some of it in another way: it has Date objects for timestamps, `_from` for
 * `from`, `x_kubernetes_validations` for `x-kubernetes-validations`, and strings for quantities, which may also be numbers. Members
 * that are undefined are not sent.
 */
export type Wire<T> = 0 extends 1 & T
  ? unknown // any
  : T extends Date
    ? string
    : T extends readonly (infer Entry)[]
      ? readonly Wire<Entry>[]
      : T extends object
        ? { [Name in keyof T as Spelled<Name>]: Member<Name, T[Name]> | Absent<T, Name> }
        : T;

type Absent<T, Name extends keyof T> = string extends Name ? never : object extends Pick<T, Name> ? undefined : never;

type Spelled<Name> = Name extends `x_kubernetes_${infer Rest}`
  ? `x-kubernetes-${Dashed<Rest>}`
  : Name extends `_${infer Rest}`
    ? Rest
    : Name;
type Dashed<Text extends string> = Text extends `${infer Head}_${infer Tail}` ? `${Head}-${Dashed<Tail>}` : Text;

type Member<Name, Value> = Name extends 'limits' | 'requests'
  ? Quantities
  : Name extends 'sizeLimit'
    ? string | number
    : Wire<Value>;
/** By the name of the resource. */
export type Quantities = Readonly<Record<string, string | number>>;

export type ObjectMeta = Wire<client.V1ObjectMeta> & { name: string };
export type OwnerReference = Wire<client.V1OwnerReference>;
export type LabelSelector = Wire<client.V1LabelSelector>;

export type PodSpec = Wire<client.V1PodSpec>;
export type PodTemplate = Wire<client.V1PodTemplateSpec>;
export type Container = Wire<client.V1Container>;
export type PodStatus = Wire<client.V1PodStatus>;
export type ContainerStatus = Wire<client.V1ContainerStatus>;
export type ContainerPort = Wire<client.V1ContainerPort>;
export type EnvVar = Wire<client.V1EnvVar>;
export type Probe = Wire<client.V1Probe>;
export type ResourceRequirements = Wire<client.V1ResourceRequirements>;
export type SecurityContext = Wire<client.V1SecurityContext>;
export type PodSecurityContext = Wire<client.V1PodSecurityContext>;
export type Affinity = Wire<client.V1Affinity>;
export type PodAffinityTerm = Wire<client.V1PodAffinityTerm>;
export type TopologySpreadConstraint = Wire<client.V1TopologySpreadConstraint>;
export type Volume = Wire<client.V1Volume>;
/** Where the content of a volume comes from. */
export type VolumeSource = Omit<Volume, 'name'>;
export type VolumeMount = Wire<client.V1VolumeMount>;
export type EmptyDir = Wire<client.V1EmptyDirVolumeSource>;

export type JobSpec = Wire<client.V1JobSpec>;
export type NetworkPolicyPeer = Wire<client.V1NetworkPolicyPeer>;
export type NetworkPolicyPort = Wire<client.V1NetworkPolicyPort>;
export type IngressRule = Wire<client.V1NetworkPolicyIngressRule>;
export type EgressRule = Wire<client.V1NetworkPolicyEgressRule>;
export type PolicyRule = Wire<client.V1PolicyRule>;
export type JsonSchema = Wire<client.V1JSONSchemaProps>;

/** The part of gateway.networking.k8s.io that is used here. */
interface HTTPRoute {
  spec: {
    parentRefs: readonly { group: string; kind: string; name: string; namespace?: string | undefined }[];
    hostnames?: readonly string[] | undefined;
    rules: readonly {
      matches: readonly { path: { type: 'PathPrefix' | 'Exact'; value: string } }[];
      backendRefs: readonly { group: string; kind: string; name: string; port: number; weight: number }[];
    }[];
  };
}

/** The parts of monitoring.coreos.com that are used here. */
interface ServiceMonitor {
  spec: { selector: LabelSelector; endpoints: readonly { port: string; interval: string }[] };
}
interface PrometheusRule {
  spec: { groups: readonly { name: string; rules: readonly AlertRule[] }[] };
}
export interface AlertRule {
  alert: string;
  expr: string;
  for: string;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
}

/** The part of postgresql.cnpg.io that is used here. */
interface Cluster {
  spec: {
    instances: number;
    imageName?: string | undefined;
    imagePullPolicy?: string | undefined;
    imagePullSecrets?: readonly { name: string }[] | undefined;
    storage: { size: string };
    bootstrap: { initdb: { database: string; owner: string } };
  };
}

/** Each kind with its apiVersion and its type. */
interface Kinds {
  ConfigMap: ['v1', client.V1ConfigMap];
  Event: ['v1', client.CoreV1Event];
  Namespace: ['v1', client.V1Namespace];
  PersistentVolumeClaim: ['v1', client.V1PersistentVolumeClaim];
  Secret: ['v1', client.V1Secret];
  Service: ['v1', client.V1Service];
  ServiceAccount: ['v1', client.V1ServiceAccount];
  Deployment: ['apps/v1', client.V1Deployment];
  StatefulSet: ['apps/v1', client.V1StatefulSet];
  Job: ['batch/v1', client.V1Job];
  Lease: ['coordination.k8s.io/v1', client.V1Lease];
  RuntimeClass: ['node.k8s.io/v1', client.V1RuntimeClass];
  PriorityClass: ['scheduling.k8s.io/v1', client.V1PriorityClass];
  PodDisruptionBudget: ['policy/v1', client.V1PodDisruptionBudget];
  HorizontalPodAutoscaler: ['autoscaling/v2', client.V2HorizontalPodAutoscaler];
  Ingress: ['networking.k8s.io/v1', client.V1Ingress];
  NetworkPolicy: ['networking.k8s.io/v1', client.V1NetworkPolicy];
  Role: ['rbac.authorization.k8s.io/v1', client.V1Role];
  RoleBinding: ['rbac.authorization.k8s.io/v1', client.V1RoleBinding];
  ClusterRole: ['rbac.authorization.k8s.io/v1', client.V1ClusterRole];
  ClusterRoleBinding: ['rbac.authorization.k8s.io/v1', client.V1ClusterRoleBinding];
  CustomResourceDefinition: ['apiextensions.k8s.io/v1', client.V1CustomResourceDefinition];
  HTTPRoute: ['gateway.networking.k8s.io/v1', HTTPRoute];
  ServiceMonitor: ['monitoring.coreos.com/v1', ServiceMonitor];
  PrometheusRule: ['monitoring.coreos.com/v1', PrometheusRule];
  Cluster: ['postgresql.cnpg.io/v1', Cluster];
}

type Identity<Name extends keyof Kinds> = { apiVersion: Kinds[Name][0]; kind: Name; metadata: ObjectMeta };

/**
 * An object to apply. Its kind determines its apiVersion and its fields. Without a type argument it is any kind of the table.
 */
export type Manifest<Name extends keyof Kinds = keyof Kinds> = {
  [Each in Name]: Identity<Each> & Omit<Wire<Kinds[Each][1]>, 'apiVersion' | 'kind' | 'metadata' | 'status'>;
}[Name];
