// The transcode workers of this machine: the desired number, and workers that hang.
import type { MediaServerSpec } from '../schemas/media-server.ts';
import { SilentWorkers } from '../silent-workers.ts';
import type { Child } from './child.ts';
import { seeDemand } from './observe.ts';
import type { Supervisor } from './supervisor.ts';
import { transcodeCount } from './transcode-count.ts';

type Children = Pick<Supervisor, 'children'>;

export class TranscodeWorkers {
  readonly #silent = new SilentWorkers();
  readonly #warn: (line: string) => void;

  constructor(warn: (line: string) => void) {
    this.#warn = warn;
  }

  /** The desired number of workers. Kills workers that do not report; the supervisor restarts them. */
  async count(spec: MediaServerSpec['transcode'], supervisor: Children, now = new Date()): Promise<number> {
    const demand = await seeDemand(supervisor.children('api'));
    const children = supervisor.children('transcode');
    const running = children.filter(({ state }) => state === 'ready').map(({ spec: { name } }) => name);
    const byChild = demand?.workers.map((worker) => ({ ...worker, pod: childOf(worker.pod) })) ?? [];
    const silent = this.#silent.look(running, demand && { ...demand, workers: byChild }, now);
    for (const child of children) if (silent.has(child.spec.name)) this.#end(child);
    return transcodeCount(spec, { demand, running: children.length, silent: silent.size });
  }

  #end(child: Child): void {
    this.#warn(`${child.spec.name} ran for 5 minutes without a report to the server: it is restarted`);
    child.kill();
  }
}

/** The name without the suffix of a start: `transcode-2` of `transcode-2-1f09ab`. */
const childOf = (pod: string): string => pod.replace(/-[0-9a-f]{6}$/, '');
