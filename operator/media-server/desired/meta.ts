// Names and labels of everything that belongs to a server.
import type { KubeObject, ObjectMeta } from '../../runtime/kube.ts';
import { KEEP, OWNER } from '../../runtime/kube.ts';
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

/** Selects the pods of a component, or of all. */
export const selectorOf = ({ name }: Pick<Server, 'name'>, component?: Component): Record<string, string> => ({
  'app.kubernetes.io/name': 'foyer',
  'app.kubernetes.io/instance': name,
  ...(component && { 'app.kubernetes.io/component': component }),
});

/** Of the pods of all servers. */
export const POD_LABELS: Record<string, string> = { 'app.kubernetes.io/name': 'foyer' };

export const labelsOf = (server: Named, component?: Component): Record<string, string> => ({
  ...selectorOf(server, component),
  'app.kubernetes.io/managed-by': 'foyer-operator',
  [OWNER]: server.uid,
});

/** Of what outlives the server. Argo CD may take it for its own by its labels, and finds it in no folder of its repository. */
export const KEPT: Record<string, string> = {
  [KEEP]: 'true',
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
};

export interface Part {
  /** After the name of the server; absent: the server's own name. */
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

/** Without the members that are undefined. */
export function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

/** A Secret of texts, spelt as the API server gives it back. */
export function secretObject(metadata: ObjectMeta, texts: Readonly<Record<string, string>>): KubeObject {
  const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: Object.fromEntries(data) };
}
