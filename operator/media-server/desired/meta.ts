// Names and labels of all objects of a server.
import { KEEP, OWNER } from '../../runtime/kube.ts';
import type { Manifest, ObjectMeta } from '../../runtime/manifest.ts';
import type { Server } from '../server.ts';

export type Component =
  | 'api'
  | 'workers'
  | 'parser'
  | 'transcode'
  | 'subtitles'
  | 'postgres'
  | 'redis'
  | 'objects'
  | 'migrate'
  | 'recovery'
  | 'restore'
  | 'backup';

type Named = Pick<Server, 'name' | 'namespace' | 'uid'>;

/** Selects the pods of one component, or of all. */
export const selectorOf = ({ name }: Pick<Server, 'name'>, component?: Component): Record<string, string> => ({
  'app.kubernetes.io/name': 'foyer',
  'app.kubernetes.io/instance': name,
  ...(component && { 'app.kubernetes.io/component': component }),
});

/** Labels of the pods of all servers. */
export const POD_LABELS: Record<string, string> = { 'app.kubernetes.io/name': 'foyer' };

export const labelsOf = (server: Named, component?: Component): Record<string, string> => ({
  ...selectorOf(server, component),
  'app.kubernetes.io/managed-by': 'foyer-operator',
  [OWNER]: server.uid,
});

/**
 * Annotations of objects that outlive the server. By its labels Argo CD may consider such an object its own, and would prune
 * it.
 */
export const KEPT: Record<string, string> = {
  [KEEP]: 'true',
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
};

export interface Part {
  /** Follows the name of the server; without it the name is the server's. */
  suffix?: string;
  component?: Component;
  annotations?: Record<string, string>;
  /** Never pruned. */
  keep?: boolean;
}

export const nameOf = ({ name }: Pick<Server, 'name'>, suffix?: string): string =>
  suffix ? `${name}-${suffix}` : name;

export function metaOf(server: Named, { suffix, component, annotations, keep }: Part): ObjectMeta {
  const notes = { ...annotations, ...(keep && KEPT) };
  return {
    name: nameOf(server, suffix),
    namespace: server.namespace,
    labels: labelsOf(server, component),
    ...(Object.keys(notes).length > 0 && { annotations: notes }),
  };
}

/** Removes undefined members. The type is inferred from the expected type only, so that unknown members do not compile. */
export function defined<T extends object>(value: NoInfer<T>): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

/** A Secret with base64 values, as the API server returns it. */
export function secretObject(metadata: ObjectMeta, texts: Readonly<Record<string, string>>): Manifest<'Secret'> {
  const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: Object.fromEntries(data) };
}
