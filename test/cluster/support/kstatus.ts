// What the programs that wait for resources make of their status: kstatus itself, as Flux uses it.
import type { KubeObject } from '#operator/runtime/kube.ts';
import type { Condition } from '#operator/schemas/conditions.ts';
import { goTool, printed } from './hack.ts';

interface Told {
  observedGeneration?: number;
  conditions?: Condition[];
}

/** Never Current before the newest spec was looked at, nor without Ready; Failed exactly where we say that it stands still. */
function faultsOf({ kind, metadata, status = {} }: KubeObject, word: string): string[] {
  const { observedGeneration, conditions = [] } = status as Told;
  const is = (type: string) => conditions.find((condition) => condition.type === type)?.status;
  const rules: [boolean, string][] = [
    [word !== 'Current' || observedGeneration === metadata.generation, 'Current before it was looked at'],
    [word !== 'Current' || is('Ready') === 'True', 'Current and not Ready'],
    [word !== 'Failed' || is('Stalled') === 'True', 'Failed and not Stalled'],
    [
      is('Stalled') !== 'True' ||
        ['Failed', 'Terminating'].includes(word) ||
        observedGeneration !== metadata.generation,
      'Stalled and not Failed',
    ],
  ];
  const told = conditions.map(({ type, status: holds, reason }) => `${type}=${holds}/${reason}`).join(' ');
  return rules.filter(([holds]) => !holds).map(([, fault]) => `${kind} ${metadata.name}: ${word}: ${fault}: ${told}`);
}

/** Over recorded states of resources. A resource without a status is one that the operator has not seen yet. */
export async function kstatusFaults(states: readonly KubeObject[]): Promise<string[]> {
  const seen = states.filter(({ status }) => status !== undefined);
  const lines = seen.map((object) => `${JSON.stringify(object)}\n`).join('');
  const words = (await printed(await goTool('kstatus'), [], lines)).trim().split('\n');
  if (words.length !== seen.length) throw new Error(`kstatus told of ${words.length} of ${seen.length}`);
  return [...new Set(seen.flatMap((object, index) => faultsOf(object, words[index] ?? '')))];
}
