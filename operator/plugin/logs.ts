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

/** Prefixes each line with its pod. With `follow` it runs until a signal. */
export async function printLogs(cluster: Cluster, server: KubeObject, options: LogQuery): Promise<void> {
  const labels = { 'app.kubernetes.io/name': 'foyer', 'app.kubernetes.io/instance': server.metadata.name };
  const selector = options.component ? { ...labels, [COMPONENT]: options.component } : labels;
  const pods = (await cluster.list('v1', 'Pod', selector)) ?? [];
  cluster.insist();
  if (pods.length === 0) throw new Refused(`no pods of ${server.metadata.name} ${options.component ?? ''}`.trim());
  const each = pods.flatMap(containersOf).map((one) => ({ ...one, tailLines: options.tail }));
  for (const query of each) {
    const isThere = await (options.follow
      ? followOne(cluster, query)
      : printOne(cluster, query, options.previous ?? false));
    cluster.insist();
    if (!isThere) process.stderr.write(`${query.pod} ${query.container}: no such log\n`);
  }
}

function linesOf({ pod }: PodLogQuery): PassThrough {
  const lines = new PassThrough();
  createInterface({ input: lines }).on('line', (line) => process.stdout.write(`${pod} ${line}\n`));
  return lines;
}

async function printOne(cluster: Cluster, query: PodLogQuery, previous: boolean): Promise<boolean> {
  const text = await cluster.log({ ...query, previous });
  linesOf(query).end(text ?? '');
  return text !== undefined;
}

const followOne = (cluster: Cluster, query: PodLogQuery): Promise<boolean> => cluster.follow(query, linesOf(query));
