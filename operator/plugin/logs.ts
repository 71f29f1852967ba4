import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { KubeObject } from '../runtime/kube.ts';
import { containersOf } from './bundle.ts';
import { type Cluster, type PodLogQuery, Refused } from './cluster.ts';

export interface LogQuery {
  component?: string;
  follow?: boolean;
  tail: number;
  previous?: boolean;
}

const COMPONENT = 'app.kubernetes.io/component';

/** Each line with its pod before it. Follows until the signal, when asked. */
export async function printLogs(cluster: Cluster, server: KubeObject, wish: LogQuery): Promise<void> {
  const labels = { 'app.kubernetes.io/name': 'foyer', 'app.kubernetes.io/instance': server.metadata.name };
  const asked = wish.component ? { ...labels, [COMPONENT]: wish.component } : labels;
  const pods = (await cluster.list('v1', 'Pod', asked)) ?? [];
  cluster.insist();
  if (pods.length === 0) throw new Refused(`no pods of ${server.metadata.name} ${wish.component ?? ''}`.trim());
  const each = pods.flatMap(containersOf).map((one) => ({ ...one, tailLines: wish.tail }));
  for (const ask of each) {
    const isThere = await (wish.follow ? followOne(cluster, ask) : printOne(cluster, ask, wish.previous ?? false));
    cluster.insist();
    if (!isThere) process.stderr.write(`${ask.pod} ${ask.container}: there is no such log\n`);
  }
}

function linesOf({ pod }: PodLogQuery): PassThrough {
  const lines = new PassThrough();
  createInterface({ input: lines }).on('line', (line) => process.stdout.write(`${pod} ${line}\n`));
  return lines;
}

async function printOne(cluster: Cluster, ask: PodLogQuery, previous: boolean): Promise<boolean> {
  const text = await cluster.log({ ...ask, previous });
  linesOf(ask).end(text ?? '');
  return text !== undefined;
}

const followOne = (cluster: Cluster, ask: PodLogQuery): Promise<boolean> => cluster.follow(ask, linesOf(ask));
