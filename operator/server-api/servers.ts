// The servers of the cluster through their public API, with the operator's key of each.
import type { KubeObject, Reader } from '../runtime/kube.ts';
import { Pool } from './exchange.ts';
import { LibraryList } from './library-list.ts';
import { serverClient } from './server-client.ts';

const DEFAULT_URL = 'http://{name}-api.{namespace}.svc:8080';

export interface ServerName {
  namespace: string;
  name: string;
}

/** One value of a cached Secret. */
export function secretText(reader: Reader, { namespace, name }: ServerName, key: string): string | undefined {
  const data = reader.get('Secret', namespace, name)?.data as Record<string, string> | undefined;
  const value = data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

/** Substitutes `{name}` and `{namespace}` of the server. */
export function apiAddress({ namespace, name }: ServerName, pattern = DEFAULT_URL): string {
  return pattern.replaceAll('{name}', name).replaceAll('{namespace}', namespace);
}

export class Servers {
  readonly #pattern: string | undefined;
  readonly #lists = new Map<string, { key: string; list: LibraryList }>();
  #wake: (library: ServerName) => void = () => undefined;

  constructor(pattern?: string) {
    this.#pattern = pattern;
  }

  /** Undefined while the server has no key for the operator yet. */
  libraries(reader: Reader, server: ServerName): LibraryList | undefined {
    const key = secretText(reader, { ...server, name: `${server.name}-operator-key` }, 'key');
    if (!key) return undefined;
    const name = `${server.namespace}/${server.name}`;
    const known = this.#lists.get(name);
    if (known?.key === key) return known.list;
    const request = serverClient(apiAddress(server, this.#pattern), key, new Pool());
    const list = new LibraryList(request, ({ managedBy }) => {
      if (managedBy?.kind === 'Library') this.#wake(managedBy);
    });
    this.#lists.set(name, { key, list });
    return list;
  }

  /** Registers the function that triggers a pass of a Library resource whose library changed on the server. */
  listen(wake: (library: ServerName) => void): void {
    this.#wake = wake;
  }

  wake(library: ServerName): void {
    this.#wake(library);
  }

  /** The server was deleted. */
  forget({ namespace, name }: ServerName): void {
    this.#lists.delete(`${namespace}/${name}`);
  }
}

/**
 * Resources of a kind that reference this server, or the server to which a Secret belongs. The status of a server changes
 * every few seconds, so only relevant changes trigger them.
 */
export function referringOnChange(kind: string): (object: KubeObject, reader: Reader) => readonly ServerName[] {
  const before = new Map<string, string>();
  return (object, reader) => {
    const { namespace = '', name, uid = '' } = object.metadata;
    const gone = reader.get(object.kind, namespace, name) === undefined;
    const now = weightOf(object);
    if (!gone && before.get(uid) === now) return [];
    if (gone) before.delete(uid);
    else before.set(uid, now);
    const server = name.replace(/-(operator-key|keys)$/, '');
    return referring(kind, { namespace, name: server }, reader);
  };
}

/** Resources of a kind whose spec.serverRef names this server. */
export function referring(kind: string, { namespace, name }: ServerName, reader: Reader): ServerName[] {
  const all = reader.list(kind, namespace).filter((one) => serverNameOf(one) === name);
  return all.map(({ metadata }) => ({ namespace, name: metadata.name }));
}

function weightOf({ kind, metadata, status }: KubeObject): string {
  if (kind === 'Secret') return metadata.resourceVersion ?? '';
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
  const ready = conditions.find(({ type }) => type === 'Ready')?.status;
  return JSON.stringify([metadata.generation, metadata.annotations, metadata.deletionTimestamp, ready]);
}

export const serverNameOf = ({ spec }: KubeObject): string | undefined =>
  (spec as { serverRef?: { name?: string } } | undefined)?.serverRef?.name;
