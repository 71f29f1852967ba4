import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { KubeObject } from '../runtime/kube.ts';
import { containersOf } from './bundle.ts';
import { type Cluster, Refused } from './cluster.ts';

export interface LogWish {
  component?: string;
  follow?: boolean;
  tail: number;
  previous?: boolean;
}

const COMPONENT = 'app.kubernetes.io/component';

/** Each line with its pod before it. Follows until the signal, when asked. */
export async function printLogs(cluster: Cluster, server: KubeObject, wish: LogWish): Promise<void> {
  const labels = { 'app.kubernetes.io/name': 'foyer', 'app.kubernetes.io/instance': server.metadata.name };
  const asked = wish.component ? { ...labels, [COMPONENT]: wish.component } : labels;
  const pods = (await cluster.list('v1', 'Pod', asked)) ?? [];
  if (pods.length === 0) throw new Refused(`no pods of ${server.metadata.name} ${wish.component ?? ''}`.trim());
  const each = pods.flatMap(containersOf).map((one) => ({ ...one, tailLines: wish.tail }));
  for (const ask of each) {
    const lines = new PassThrough();
    createInterface({ input: lines }).on('line', (line) => process.stdout.write(`${ask.pod} ${line}\n`));
    if (wish.follow) await cluster.follow(ask, lines);
    else lines.end((await cluster.log({ ...ask, previous: wish.previous ?? false })) ?? '');
  }
}
