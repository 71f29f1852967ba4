// TunerDevices on one machine: a process each, which tells of the device as its pod would.
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
  /** By name: what the process told last, and the spec that it told it under. */
  readonly #told = new Map<string, { pod: PodStatus | undefined; spec: ProcessSpec }>();

  /** Those that ought to run. One that records goes on as it is until that is over. */
  processes({ spec }: Server, { tuners, secrets }: Resources): ProcessSpec[] {
    return tuners.map((tuner) => {
      const told = this.#told.get(tuner.name);
      if (told?.pod?.recording) return told.spec;
      const urls = urlRefs(tuner.spec).map(({ variable, ref }) => [variable, secretValue(secrets, ref)]);
      const own = { ...tunerEnvironment(tuner.spec, spec), FOYER_HOST: '127.0.0.1', ...Object.fromEntries(urls) };
      return tunerProcess(tuner.name, childEnvironment(own));
    });
  }

  /** Asks each process, and says what it saw in the status of its resource. */
  async report(status: StatusFile, { tuners }: Resources, children: readonly Child[]): Promise<void> {
    for (const name of this.#told.keys()) if (!tuners.some((tuner) => tuner.name === name)) this.#told.delete(name);
    await Promise.all(tuners.map((tuner) => this.#tell(status, tuner, children)));
  }

  async #tell(status: StatusFile, { name, spec }: Tuner, children: readonly Child[]): Promise<void> {
    const item = status.get('TunerDevice', name);
    const child = children.find((one) => one.spec.name === `tuner-${name}`);
    const pod = child?.state === 'ready' ? await queryTuner(`http://127.0.0.1:${child.ownPort}`) : undefined;
    if (child) this.#told.set(name, { pod, spec: child.spec });
    const seen = { running: child?.state === 'ready', trouble: troubleOf(child), pod, waiting: false };
    if (item) status.report(item, pod ? tunerStatus(pod) : {}, tunerVerdicts(spec, seen, new Date()));
  }
}

function troubleOf(child: Child | undefined): ObservedTuner['trouble'] {
  if (child?.state !== 'backoff') return undefined;
  const { name } = child.spec;
  return { reason: 'CrashLooping', message: `${name} ended (${child.lastEnd ?? '?'}): look at logs/${name}.log` };
}
