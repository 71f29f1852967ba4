// State that must survive restarts, in the data directory.
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { newClaimCode, newKeyRing, newOperatorKey } from '../keys.ts';
import { Refused } from '../refused.ts';
import { BrokenFile, readJson, writeWhole } from './files.ts';

const Stored = z.object({
  operatorKey: z.string(),
  claimCode: z.string(),
  databasePassword: z.string(),
  redisPassword: z.string(),
  /** Storage id by media name. */
  media: z.record(z.string(), z.uuid()),
  /** Port by store. */
  ports: z.record(z.string(), z.int()),
  /** Uid by `Kind/name`, as a cluster assigns them. */
  uids: z.record(z.string(), z.uuid()),
});
type Stored = z.output<typeof Stored>;

const password = () => randomBytes(24).toString('base64url');

export class State {
  readonly dir: string;
  readonly keysFile: string;
  readonly #file: string;
  readonly #stored: Stored;

  /** Opens or creates the data directory. Other users may traverse it (Postgres runs as one), not read it. */
  constructor(dir: string) {
    this.dir = dir;
    this.keysFile = join(dir, 'keys.json');
    this.#file = join(dir, 'state.json');
    mkdirSync(dir, { recursive: true });
    chmodSync(dir, 0o711);
    for (const name of ['run', 'logs', 'objects', 'scratch'])
      mkdirSync(join(dir, name), { recursive: true, mode: 0o700 });
    const found = storedIn(this.#file);
    this.#stored = found ?? freshState();
    if (!found) this.#save();
    if (!existsSync(this.keysFile)) writeWhole(this.keysFile, JSON.stringify(newKeyRing(), null, 2));
  }

  get operatorKey(): string {
    return this.#stored.operatorKey;
  }

  get claimCode(): string {
    return this.#stored.claimCode;
  }

  get databasePassword(): string {
    return this.#stored.databasePassword;
  }

  get redisPassword(): string {
    return this.#stored.redisPassword;
  }

  /** Storage id of a media entry. */
  mediaId(name: string): string {
    return this.#remember('media', name, randomUUID);
  }

  uidOf(kind: string, name: string): string {
    return this.#remember('uids', `${kind}/${name}`, randomUUID);
  }

  /** A resource that is deleted and created again gets a new uid. */
  forget(kind: string, name: string): void {
    delete this.#stored.uids[`${kind}/${name}`];
    this.#save();
  }

  /** The recorded port of a store, or a new one when another program took it. */
  async portOf(store: string): Promise<number> {
    const before = this.#stored.ports[store];
    if (before !== undefined && (await portIsFree(before))) return before;
    const port = await lowPort();
    this.#stored.ports[store] = port;
    this.#save();
    return port;
  }

  #remember(table: 'media' | 'uids', key: string, make: () => string): string {
    const known = this.#stored[table][key];
    if (known !== undefined) return known;
    const made = make();
    this.#stored[table][key] = made;
    this.#save();
    return made;
  }

  #save(): void {
    writeWhole(this.#file, JSON.stringify(this.#stored, null, 2));
  }
}

/**
 * The recorded state; undefined at the first start. Throws Refused when the file is damaged: new secrets would not open the
 * existing data.
 */
function storedIn(file: string): Stored | undefined {
  try {
    const found = readJson(file);
    return found === undefined ? undefined : Stored.parse(found);
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof BrokenFile)) throw error;
    throw new Refused(
      `${file} is damaged, and the data in this folder requires it: restore a copy of it, or use another --data`,
    );
  }
}

function freshState(): Stored {
  const secrets = { operatorKey: newOperatorKey(), claimCode: newClaimCode() };
  const passwords = { databasePassword: password(), redisPassword: password() };
  return { ...secrets, ...passwords, media: {}, ports: {}, uids: {} };
}

/** Below the range of outgoing connections: such a connection could take the port while a store restarts. */
async function lowPort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(20_000, 30_000);
    if (await portIsFree(port)) return port;
  }
  return freePort();
}

export function freePort(): Promise<number> {
  return listenOnce(0);
}

/** True when no program listens on the port, not even with reusePort. */
export async function portIsFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return listenOnce(port, host).then(
    () => true,
    () => false,
  );
}

/** Why the port cannot be used, for people. */
export async function portFault(port: number, host = '127.0.0.1'): Promise<string | undefined> {
  return listenOnce(port, host).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return `port ${port} is in use by another program; use another --port`;
      if (error.code === 'EACCES') return `port ${port} requires root; use a --port of 1024 or above`;
      return error.message;
    },
  );
}

function listenOnce(port: number, host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen({ port, host }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
    });
  });
}
