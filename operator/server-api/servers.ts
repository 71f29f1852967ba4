// The servers of the cluster as their public API shows them, each asked with the operator's own key.
import type { KubeObject, Reader } from '../runtime/kube.ts';
import { Pool } from './exchange.ts';
import { LibraryList } from './library-list.ts';
import { serverClient } from './server-client.ts';

const DEFAULT_URL = 'http://{name}-api.{namespace}.svc:8080';

export interface ServerName {
  namespace: string;
  name: string;
}

/** Text of one key of a Secret in the cache. */
export function secretText(reader: Reader, { namespace, name }: ServerName, key: string): string | undefined {
  const data = reader.get('Secret', namespace, name)?.data as Record<string, string> | undefined;
  const value = data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

/** `{name}` and `{namespace}` of the server are filled in. */
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
    const ask = serverClient(apiAddress(server, this.#pattern), key, new Pool());
    const list = new LibraryList(ask, ({ managedBy }) => {
      if (managedBy?.kind === 'Library') this.#wake(managedBy);
    });
    this.#lists.set(name, { key, list });
    return list;
  }

  /** Is told of the Library resources that a server's list gives cause to look at. */
  listen(wake: (library: ServerName) => void): void {
    this.#wake = wake;
  }

  wake(library: ServerName): void {
    this.#wake(library);
  }

  /** The server is gone. */
  forget({ namespace, name }: ServerName): void {
    this.#lists.delete(`${namespace}/${name}`);
  }
}

/**
 * Resources of a kind whose spec.serverRef names this server, or the one that a Secret is named for. The status of a server
 * changes every few seconds: only what matters to them brings them back.
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
