// The result of programs that wait for the status of resources: kstatus itself, as Flux uses it.
import type { KubeObject } from '#operator/runtime/kube.ts';
import type { Condition } from '#operator/schemas/conditions.ts';
import { goTool, printed } from './hack.ts';

interface Reported {
  observedGeneration?: number;
  conditions?: Condition[];
}

/** The word that our conditions are to be taken for. */
function meant({ metadata, status = {} }: KubeObject): string {
  const { observedGeneration, conditions = [] } = status as Reported;
  const is = (type: string) => conditions.some((condition) => condition.type === type && condition.status === 'True');
  if (metadata.deletionTimestamp) return 'Terminating';
  if (observedGeneration !== metadata.generation || is('Reconciling')) return 'InProgress';
  if (is('Stalled')) return 'Failed';
  return is('Ready') ? 'Current' : 'InProgress';
}

/** kstatus' word for each: Current, InProgress, Failed, Terminating. */
export async function kstatusOf(states: readonly KubeObject[]): Promise<string[]> {
  const lines = states.map((object) => `${JSON.stringify(object)}\n`).join('');
  const words = (await printed(await goTool('kstatus'), [], lines)).trim().split('\n');
  if (words.length !== states.length) throw new Error(`kstatus reported ${words.length} of ${states.length}`);
  return words;
}

/** Over recorded states of resources: where kstatus differs from the meaning of our conditions. */
export async function kstatusFaults(recorded: readonly KubeObject[]): Promise<string[]> {
  const states = [...recorded]; // more may come meanwhile
  const words = await kstatusOf(states);
  const faults = states.flatMap((object, index) => {
    const [word, means] = [words[index], meant(object)];
    if (word === means) return [];
    const { conditions = [] } = (object.status ?? {}) as Reported;
    const conditionsText = conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`).join(' ');
    return [`${object.kind} ${object.metadata.name}: ${word}, and means ${means}: ${conditionsText}`];
  });
  return [...new Set(faults)];
}
