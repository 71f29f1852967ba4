// Which stores run on this machine, and the addresses of the others.
import { readFileSync } from 'node:fs';
import { secretValue } from '../server-environment.ts';
import { objectsUrl, type Server, type Stores } from './environment.ts';
import { type PostgresHome, postgresSpec, postgresUrl, preparePostgres } from './postgres.ts';
import type { ProcessSpec } from './process-spec.ts';
import { redisSpec, redisUrl } from './redis.ts';
import type { Resources } from './resources.ts';
import type { State } from './state.ts';

export interface WantedStores {
  specs: ProcessSpec[];
  stores: Stores;
}

/** Prepares embedded stores once per run; their ports stay the same for the run. */
export class LocalStores {
  readonly #state: State;
  readonly #ports = new Map<string, number>();
  #home: PostgresHome | undefined;

  constructor(state: State) {
    this.#state = state;
  }

  async wanted(server: Server, resources: Resources): Promise<WantedStores> {
    const [postgres, redis] = [await this.#postgres(server, resources), await this.#redis(server, resources)];
    const stores = {
      databaseUrl: postgres.url,
      redisUrl: redis.url,
      objectsUrl: objectsUrl(server, resources, this.#state.dir),
    };
    return { specs: [...postgres.specs, ...redis.specs], stores };
  }

  async #postgres({ spec }: Server, resources: Resources) {
    if (spec.postgres.secretRef) return { url: secretValue(resources.secrets, spec.postgres.secretRef), specs: [] };
    const { dir, keysFile, databasePassword: password } = this.#state;
    const { serverId } = JSON.parse(readFileSync(keysFile, 'utf8')) as { serverId: string };
    this.#home ??= await preparePostgres({ dir, id: serverId, password });
    const port = await this.#port('postgres');
    return { url: postgresUrl(port, password), specs: [postgresSpec(this.#home, port)] };
  }

  async #redis({ spec }: Server, resources: Resources) {
    if (spec.redis.secretRef) return { url: secretValue(resources.secrets, spec.redis.secretRef), specs: [] };
    const { dir, redisPassword: password } = this.#state;
    const port = await this.#port('redis');
    const durable = spec.redis.managed?.storage !== undefined;
    return { url: redisUrl(port, password), specs: [redisSpec({ dir, port, password, durable })] };
  }

  async #port(store: string): Promise<number> {
    const port = this.#ports.get(store) ?? (await this.#state.portOf(store));
    this.#ports.set(store, port);
    return port;
  }
}
