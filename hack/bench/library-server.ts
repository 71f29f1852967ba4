// An in-memory server of libraries with the operations that an operator uses. Both sides of hack/bench/operator.ts use it.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Made {
  id: string;
  managedBy?: { uid: string };
  settings: Record<string, unknown>;
  [member: string]: unknown;
}

const SCAN = {
  ...{ id: randomUUID(), state: 'completed', finishedAt: '2026-01-01T00:00:00.000Z' },
  ...{ added: 12, updated: 0, missing: 0 },
};

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return parts.length > 0 ? (JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>) : {};
}

export class LibraryServer {
  readonly #made = new Map<string, Made>();
  readonly #server = createServer((request, response) => {
    void this.#answer(request).then(([status, body]) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  /** Requests so far. */
  requests = 0;

  static async start(): Promise<LibraryServer> {
    const made = new LibraryServer();
    made.#server.listen(0, '127.0.0.1');
    await once(made.#server, 'listening');
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get size(): number {
    return this.#made.size;
  }

  forget(): void {
    this.#made.clear();
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage): Promise<[number, unknown]> {
    this.requests += 1;
    const { method = 'GET', url = '' } = request;
    const [, , , what, id] = url.split('/');
    if (what === 'scans') return [200, { id, startedAt: '2025-12-31T23:59:00.000Z' }];
    if (what !== 'libraries') return [404, {}];
    const body = await bodyOf(request);
    if (method === 'POST') return [201, this.#make(body)];
    if (!id) return [200, [...this.#made.values()]];
    const there = [...this.#made.values()].find((library) => library.id === id);
    if (!there) return [404, {}];
    if (method === 'PATCH')
      Object.assign(there, body, { settings: { ...there.settings, ...(body.settings as object) } });
    return [200, there];
  }

  /** Once for each uid. */
  #make(body: Record<string, unknown>): Made {
    const uid = (body.managedBy as { uid?: string } | undefined)?.uid ?? randomUUID();
    const { folders = [] } = body as { folders?: object[] };
    const made = this.#made.get(uid) ?? {
      order: 0,
      state: 'ready',
      settings: {},
      itemCounts: { movie: 12 },
      sizeBytes: 1_000_000,
      lastScan: SCAN,
      ...body,
      folders: folders.map((folder) => ({ ...folder, state: 'available' })),
      id: randomUUID(),
    };
    this.#made.set(uid, made as Made);
    return made as Made;
  }
}
