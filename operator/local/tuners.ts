// TunerDevices on one machine: one process each, which reports the state of the device as its pod would.

import { secretValue } from '../server-environment.ts';
import { tunerEnvironment, urlRefs } from '../tuner-device/environment.ts';
import { queryTuner } from '../tuner-device/query.ts';
import type { ServerTuner } from '../tuner-device/server-facts.ts';
import { type SyncedTuner, specOfTuner } from '../tuner-device/server-tuner.ts';
import {
  type ObservedTuner,
  type PodStatus,
  tunerStatus,
  tunerVerdicts,
  withSynced,
} from '../tuner-device/verdicts.ts';
import type { Child } from './child.ts';
import { childEnvironment } from './child-environment.ts';
import { tunerProcess } from './desired.ts';
import type { Server } from './environment.ts';
import type { ProcessSpec } from './process-spec.ts';
import type { Resources } from './resources.ts';
import type { StatusFile } from './status-file.ts';

type Tuner = Resources['tuners'][number];

/** What the server knows of tuners, and the environment of its processes, which those of its tuners share. */
export interface KnownTuners {
  synced: ReadonlyMap<string, SyncedTuner>;
  /** Tuners that were added in the app. */
  added: readonly ServerTuner[];
  environment: Record<string, string>;
}

const NONE: KnownTuners = { synced: new Map(), added: [], environment: {} };

export class LocalTuners {
  /** By name: the last report of the process, and the spec that it ran with. */
  readonly #reports = new Map<string, { pod: PodStatus | undefined; spec: ProcessSpec }>();

  /** The desired processes. A process that records keeps its spec until the recording ends. */
  processes({ spec }: Server, { tuners, secrets }: Resources, known: KnownTuners = NONE): ProcessSpec[] {
    const declared = tuners.map((tuner) => {
      const last = this.#reports.get(tuner.name);
      if (last?.pod?.recording) return last.spec;
      const urls = urlRefs(tuner.spec).map(({ variable, ref }) => [variable, secretValue(secrets, ref)]);
      const id = known.synced.get(tuner.name)?.tunerId;
      const own = { ...tunerEnvironment(tuner.spec, spec), FOYER_HOST: '127.0.0.1', ...Object.fromEntries(urls) };
      return tunerProcess(tuner.name, childEnvironment({ ...own, ...ofRow(id, known) }));
    });
    return [...declared, ...known.added.map((tuner) => addedProcess(tuner, spec, known))];
  }

  /** Requests the state of each process, and writes it to the status of its resource. */
  async report(
    status: StatusFile,
    { tuners }: Resources,
    { children, synced }: { children: readonly Child[]; synced: KnownTuners['synced'] },
  ): Promise<void> {
    for (const name of this.#reports.keys())
      if (!tuners.some((tuner) => tuner.name === name)) this.#reports.delete(name);
    await Promise.all(tuners.map((tuner) => this.#reportOne(status, tuner, { children, synced })));
  }

  async #reportOne(
    status: StatusFile,
    { name, spec }: Tuner,
    { children, synced }: { children: readonly Child[]; synced: KnownTuners['synced'] },
  ): Promise<void> {
    const item = status.get('TunerDevice', name);
    const child = children.find((one) => one.spec.name === `tuner-${name}`);
    const answer = child?.state === 'ready' ? await queryTuner(`http://127.0.0.1:${child.ownPort}`) : undefined;
    const pod = answer && { ...answer, ...synced.get(name)?.known };
    if (child) this.#reports.set(name, { pod, spec: child.spec });
    const observed = { running: child?.state === 'ready', trouble: troubleOf(child), pod, waiting: false };
    const verdicts = withSynced(tunerVerdicts(spec, observed, new Date()), synced.get(name));
    if (item) status.report(item, pod ? tunerStatus(pod) : {}, verdicts);
  }
}

/** With the id of its row a process takes part in the server: it needs its stores. */
const ofRow = (id: string | undefined, { environment }: KnownTuners): Record<string, string> =>
  id === undefined ? {} : { ...environment, FOYER_TUNER_ID: id };

function addedProcess(tuner: ServerTuner, { network }: Server['spec'], known: KnownTuners): ProcessSpec {
  const { live } = network.allow;
  const own = {
    ...ofRow(tuner.id, known),
    FOYER_TUNER_SPEC: JSON.stringify(specOfTuner(tuner)),
    ...(live.length > 0 && { FOYER_TUNER_NETWORKS: JSON.stringify(live) }),
    FOYER_HOST: '127.0.0.1',
  };
  return tunerProcess(tuner.id, childEnvironment(own));
}

function troubleOf(child: Child | undefined): ObservedTuner['trouble'] {
  if (child?.state !== 'backoff') return undefined;
  const { name } = child.spec;
  return { reason: 'CrashLooping', message: `${name} ended (${child.lastEnd ?? '?'}): see logs/${name}.log` };
}
