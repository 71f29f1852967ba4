// The desired processes of the server. Pure.
import { fileURLToPath } from 'node:url';
import { decoderEnvironment } from '../decoder-environment.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import type { ProcessSpec, Role } from './process-spec.ts';

/** The folder that holds api/ and workers/. */
export const TREE = fileURLToPath(new URL('../..', import.meta.url));

/** Time for an API process to finish streaming. */
const API_GRACE_MS = 15_000;
export const WORKER_GRACE_MS = 10_000;

const SCRIPTS = { api: 'api/main.ts', worker: 'workers/main.ts', transcode: 'workers/transcode/main.ts' };
const TUNER_SCRIPT = 'workers/tuner/main.ts';
const RESTORE_SCRIPT = 'workers/restore/main.ts';

/** `transcoding` is the desired number of transcode workers. */
export function serverProcesses(
  spec: MediaServerSpec,
  environment: Record<string, string>,
  { transcoding, tree = TREE }: { transcoding: number; tree?: string },
): ProcessSpec[] {
  const shared = { env: environment, tree, hints: { FOYER_REPLICAS: String(spec.api.replicas) } };
  const settings = JSON.parse(environment['FOYER_SETTINGS'] ?? '{}') as Record<string, unknown>;
  const decoding = decoderEnvironment(environment, settings);
  return [
    ...many(spec.api.replicas, (number) => nodeProcess({ role: 'api', number, ...shared })),
    ...many(spec.workers.replicas, (number) => nodeProcess({ role: 'worker', number, ...shared })),
    ...many(transcoding, (number) => nodeProcess({ role: 'transcode', number, ...shared, env: decoding })),
  ];
}

/** Two processes would both open the device: the old one ends before the new one starts. */
export function tunerProcess(name: string, env: Record<string, string>, tree = TREE): ProcessSpec {
  return {
    name: `tuner-${name}`,
    role: 'tuner',
    ...nodeArguments(TUNER_SCRIPT, tree),
    env,
    ownPort: true,
    stopSignal: 'SIGTERM',
    graceMs: WORKER_GRACE_MS,
    overlaps: false,
  };
}

/** Runs while a restore is recorded. It may be ended at any moment and resumes at its next start. */
export function restoreProcess(env: Record<string, string>, tree = TREE): ProcessSpec {
  return {
    name: 'restore',
    role: 'restore',
    ...nodeArguments(RESTORE_SCRIPT, tree),
    env,
    stopSignal: 'SIGTERM',
    graceMs: WORKER_GRACE_MS,
    overlaps: false,
  };
}

/** One Node process, for the migrations and the recovery of an owner. */
export function nodeArguments(script: string, tree = TREE): { command: string; args: string[]; cwd: string } {
  return { command: process.execPath, args: ['--disable-warning=ExperimentalWarning', script], cwd: tree };
}

interface Wanted {
  role: Extract<Role, 'api' | 'worker' | 'transcode'>;
  number: number;
  env: Record<string, string>;
  hints: Record<string, string>;
  tree: string;
}

function nodeProcess({ role, number, env, hints, tree }: Wanted): ProcessSpec {
  return {
    name: `${role}-${number}`,
    role,
    ...nodeArguments(SCRIPTS[role], tree),
    env,
    hints,
    stopSignal: 'SIGTERM',
    graceMs: role === 'api' ? API_GRACE_MS : WORKER_GRACE_MS,
    overlaps: true,
  };
}

const many = (count: number, make: (number: number) => ProcessSpec): ProcessSpec[] =>
  Array.from({ length: count }, (_, index) => make(index + 1));
