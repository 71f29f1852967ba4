// A number of pods that becomes an autoscaler's.
import { FIELD_MANAGER, type KubeObject } from './kube.ts';

/** Holds the number until the autoscaler has another. */
export const HANDED_OVER = `${FIELD_MANAGER}-autoscaled`;

interface Managed {
  manager: string;
  fieldsV1?: { 'f:spec'?: { 'f:replicas'?: object } };
}

const replicasOf = ({ spec }: KubeObject): unknown => (spec as { replicas?: unknown } | undefined)?.replicas;

/** A Deployment that says no number of pods: whatever it has is somebody else's. */
export const leavesReplicas = (wanted: KubeObject): boolean =>
  wanted.kind === 'Deployment' && replicasOf(wanted) === undefined;

/**
 * What to apply under another name before the number is left out: a field that its only manager leaves out falls to its default,
 * which is one pod. Undefined where the number is somebody else's already.
 */
export function handOverOf({ apiVersion, kind, metadata, ...live }: KubeObject): KubeObject | undefined {
  const { managedFields = [] } = metadata as { managedFields?: Managed[] };
  const holders = managedFields.filter(({ fieldsV1 }) => fieldsV1?.['f:spec']?.['f:replicas']);
  if (holders.length === 0 || holders.some(({ manager }) => manager !== FIELD_MANAGER)) return undefined;
  const { name, namespace = '' } = metadata;
  const { replicas } = live.spec as { replicas: number };
  return { apiVersion, kind, metadata: { name, namespace }, spec: { replicas } };
}
