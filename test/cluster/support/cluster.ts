// The real cluster that tests of this folder run on, through hack/cluster. By default one of its own (number 9) that is made afresh
// and taken down at the end of the run; with FOYER_CLUSTER set that one, which is started where it does not run and left as it is.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { atEndOfRun } from '#support/stores.ts';
import { AuditLog } from './audit.ts';
import { Kubectl } from './kubectl.ts';

const run = promisify(execFile);
const given = process.env.FOYER_CLUSTER;
const env = { ...process.env, FOYER_CLUSTER: given ?? '9' };

/** For the hook that calls {@link node} or {@link controlPlane} first: it may have to build the cluster, which takes minutes. */
export const UP_MS = 20 * 60_000;

export interface Cluster {
  kubeconfig: string;
  kubectl: Kubectl;
  audit: AuditLog;
}

/** hack/NAME with its standard output; throws its standard error. */
async function hack(name: 'cluster' | 'image', ...words: string[]): Promise<string> {
  try {
    return (await run(`hack/${name}`, words, { env, maxBuffer: 64 << 20 })).stdout;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new Error(`hack/${name} ${words.join(' ')}: ${stderr?.trim().slice(-2000) || message}`);
  }
}

let started: Promise<Cluster> | undefined;
let withNode: Promise<Cluster> | undefined;

async function bringUp(...words: string[]): Promise<Cluster> {
  await hack('cluster', 'up', ...words);
  const kubeconfig = (await hack('cluster', 'kubeconfig')).trim();
  const state = dirname(kubeconfig);
  const binaries = join(state, 'binaries');
  const program = existsSync(binaries) ? join(readFileSync(binaries, 'utf8').trim(), 'bin/kubectl') : 'kubectl';
  const kubectl = new Kubectl(program, kubeconfig);
  return { kubeconfig, kubectl, audit: new AuditLog(join(state, 'audit/audit.log'), kubectl) };
}

async function fresh(): Promise<Cluster> {
  if (given === undefined) {
    await hack('cluster', 'down');
    atEndOfRun(() => hack('cluster', 'down'));
  }
  return bringUp('--control-plane');
}

/** A cluster without a node that is relied on: pods may stay Pending. Brought up once a run. */
export function controlPlane(): Promise<Cluster> {
  started ??= fresh();
  return started;
}

/** A cluster whose pods run. Brought up once a run; the control plane is the same as that of {@link controlPlane}. */
export function node(): Promise<Cluster> {
  withNode ??= controlPlane().then(() => bringUp());
  return withNode;
}

const loaded = new Map<string, Promise<string>>();

/**
 * Builds the images that hack/image knows and makes them usable in pods, once a run. Their names, in the requested
 * order.
 */
export function images(...names: ('product' | 'subtitles' | 'postgres' | 'redis' | 'minio')[]): Promise<string[]> {
  return Promise.all(names.map((name) => imageOf(name)));
}

/** The product under another tag, from another tree: the target of an upgrade. */
export const productImage = (tag: string, tree = '.'): Promise<string> => load('product', '--tag', tag, '--tree', tree);

function imageOf(name: string): Promise<string> {
  const making = loaded.get(name) ?? load(name);
  loaded.set(name, making);
  return making;
}

async function load(...words: string[]): Promise<string> {
  const [image, file] = (await hack('image', ...words)).trim().split(' ');
  if (!image || !file) throw new Error(`hack/image ${words.join(' ')} named no image`);
  await hack('cluster', 'load', file);
  return image;
}

/** The resources that pods use are measured. */
export const measured = (): Promise<string> => hack('cluster', 'metrics');

/** The node advertises this many of an extended resource. */
export const gpus = (count: number, resource = 'nvidia.com/gpu'): Promise<string> =>
  hack('cluster', 'gpu', String(count), resource);
