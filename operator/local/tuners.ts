// TunerDevices on one machine: one process each, which reports the state of the device as its pod would.
import { secretValue } from '../server-environment.ts';
import { tunerEnvironment, urlRefs } from '../tuner-device/environment.ts';
import { queryTuner } from '../tuner-device/query.ts';
import { type ObservedTuner, type PodStatus, tunerStatus, tunerVerdicts } from '../tuner-device/verdicts.ts';
import type { Child } from './child.ts';
import { childEnvironment } from './child-environment.ts';
import { tunerProcess } from './desired.ts';
import type { Server } from './environment.ts';
import type { ProcessSpec } from './process-spec.ts';
import type { Resources } from './resources.ts';
import type { StatusFile } from './status-file.ts';

type Tuner = Resources['tuners'][number];

export class LocalTuners {
  /** By name: the last report of the process, and the spec that it ran with. */
  readonly #reports = new Map<string, { pod: PodStatus | undefined; spec: ProcessSpec }>();

  /** The desired processes. A process that records keeps its spec until the recording ends. */
  processes({ spec }: Server, { tuners, secrets }: Resources): ProcessSpec[] {
    return tuners.map((tuner) => {
      const last = this.#reports.get(tuner.name);
      if (last?.pod?.recording) return last.spec;
      const urls = urlRefs(tuner.spec).map(({ variable, ref }) => [variable, secretValue(secrets, ref)]);
      const own = { ...tunerEnvironment(tuner.spec, spec), FOYER_HOST: '127.0.0.1', ...Object.fromEntries(urls) };
      return tunerProcess(tuner.name, childEnvironment(own));
    });
  }

  /** Requests the state of each process, and writes it to the status of its resource. */
  async report(status: StatusFile, { tuners }: Resources, children: readonly Child[]): Promise<void> {
    for (const name of this.#reports.keys())
      if (!tuners.some((tuner) => tuner.name === name)) this.#reports.delete(name);
    await Promise.all(tuners.map((tuner) => this.#reportOne(status, tuner, children)));
  }

  async #reportOne(status: StatusFile, { name, spec }: Tuner, children: readonly Child[]): Promise<void> {
    const item = status.get('TunerDevice', name);
    const child = children.find((one) => one.spec.name === `tuner-${name}`);
    const pod = child?.state === 'ready' ? await queryTuner(`http://127.0.0.1:${child.ownPort}`) : undefined;
    if (child) this.#reports.set(name, { pod, spec: child.spec });
    const observed = { running: child?.state === 'ready', trouble: troubleOf(child), pod, waiting: false };
    if (item) status.report(item, pod ? tunerStatus(pod) : {}, tunerVerdicts(spec, observed, new Date()));
  }
}

function troubleOf(child: Child | undefined): ObservedTuner['trouble'] {
  if (child?.state !== 'backoff') return undefined;
  const { name } = child.spec;
  return { reason: 'CrashLooping', message: `${name} ended (${child.lastEnd ?? '?'}): see logs/${name}.log` };
}
