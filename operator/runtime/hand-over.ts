// Hands the replicas of a Deployment over to an autoscaler.
import { FIELD_MANAGER, type KubeObject } from './kube.ts';

/** Field manager that owns the replicas until the autoscaler changes them. */
export const HANDED_OVER = `${FIELD_MANAGER}-autoscaled`;

/** The part of managedFields.fieldsV1 that is read. */
interface Fields {
  'f:spec'?: { 'f:replicas'?: object };
}

const replicasOf = ({ spec }: KubeObject): unknown => (spec as { replicas?: unknown } | undefined)?.replicas;

/** A desired Deployment without replicas: another manager owns them. */
export const leavesReplicas = (wanted: KubeObject): boolean =>
  wanted.kind === 'Deployment' && replicasOf(wanted) === undefined;

/**
 * The object to apply under the other field manager before the replicas are omitted: a field without any manager falls back
 * to its default, which is one pod. Undefined if another manager owns them already.
 */
export function handOverOf({ apiVersion, kind, metadata, ...live }: KubeObject): KubeObject | undefined {
  const { managedFields = [] } = metadata;
  const holders = managedFields.filter(({ fieldsV1 }) => (fieldsV1 as Fields | undefined)?.['f:spec']?.['f:replicas']);
  if (holders.length === 0 || holders.some(({ manager }) => manager !== FIELD_MANAGER)) return undefined;
  const { name, namespace = '' } = metadata;
  const { replicas } = live.spec as { replicas: number };
  return { apiVersion, kind, metadata: { name, namespace }, spec: { replicas } };
}
