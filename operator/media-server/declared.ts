// spec.declared of the servers of a cluster.
import { DeclaredBodies, type ObservedDeclared } from '../declared/bodies.ts';
import type { DeclaredMap } from '../declared/files.ts';
import { DECLARED } from '../declared/verdict.ts';
import type { KubeObject, Reader } from '../runtime/kube.ts';
import type { Condition } from '../schemas/conditions.ts';
import type { SendRequest } from '../server-api/server-client.ts';
import type { Observed } from './observed.ts';
import type { Server } from './server.ts';

export class DeclaredOfServers {
  readonly #bodies = new Map<string, DeclaredBodies>();
  readonly #holdsMs: number | undefined;

  constructor(holdsMs?: number) {
    this.#holdsMs = holdsMs;
  }

  /** Applies the declarations while the server is reachable; otherwise returns the last result. */
  async apply(
    server: Server,
    { api }: Observed,
    { kube, request }: { kube: Reader; request: SendRequest },
  ): Promise<ObservedDeclared | undefined> {
    const { name, namespace, uid, spec } = server;
    if (spec.declared.length === 0 && !wasDeclared(kube.get('MediaServer', namespace, name))) return undefined;
    const bodies = this.#bodies.get(uid) ?? new DeclaredBodies(this.#holdsMs);
    this.#bodies.set(uid, bodies);
    if (!api.apiReady || spec.suspend) return bodies.observed;
    const managedBy = { kind: 'MediaServer', namespace, name, uid };
    return bodies.pass({ request, maps: mapsOf(server, kube), managedBy });
  }

  /** The server was deleted. */
  forget(uid: string): void {
    this.#bodies.delete(uid);
  }
}

/** Records may remain after the last declaration was removed; the condition exists until they are deleted. */
function wasDeclared(object: KubeObject | undefined): boolean {
  const { conditions = [] } = (object?.status ?? {}) as { conditions?: Condition[] };
  return conditions.some(({ type }) => type === DECLARED);
}

function mapsOf({ namespace, spec }: Server, kube: Reader): DeclaredMap[] {
  return spec.declared.map(({ configMapRef: { name } }) => {
    const found = kube.get('ConfigMap', namespace, name);
    const { data, binaryData } = (found ?? {}) as { data?: Texts; binaryData?: Texts };
    const bytes = Object.entries(binaryData ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const);
    return { configMap: name, files: found && { ...data, ...Object.fromEntries(bytes) } };
  });
}

type Texts = Record<string, string>;
