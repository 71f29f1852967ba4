// Processes of the product on the stores of a test.
import { spawn } from 'node:child_process';
import type { Config } from '#platform/config.ts';
import type { Api } from './api.ts';
import { eventually, freePort, temporaryFolder } from './stores.ts';

/** The stores and keys of an API, for another process. */
export function storesOf({ databaseUrl, redisUrl, objectsUrl, keysFile }: Config): Record<string, string> {
  return {
    FOYER_DATABASE_URL: databaseUrl,
    FOYER_REDIS_URL: redisUrl,
    FOYER_OBJECTS_URL: objectsUrl,
    FOYER_KEYS_FILE: keysFile,
  };
}

/** For a process that is to have nothing else: programs are found, and start from compiled code where the gate keeps it. */
export function bareEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}

/** Pid of a Node program once it printed `ready`; it ends with this process. */
export async function started(args: string[], env: NodeJS.ProcessEnv, ready: string): Promise<number> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)));
  child.stdout.on('data', (chunk: Buffer) => {
    if (chunk.toString().includes(ready)) resolve();
  });
  await promise;
  return child.pid ?? 0;
}

/** A second `api/main.ts` on the stores of an API of this process, once it serves. */
export async function startApiProcess(
  { config }: Api,
  more: Record<string, string> = {},
): Promise<{ pid: number; port: number; url: string }> {
  const port = await freePort();
  const own = { FOYER_PORT: String(port), FOYER_SCRATCH_DIR: temporaryFolder('process'), FOYER_LOG_LEVEL: 'info' };
  const pid = await started(['api/main.ts'], { ...storesOf(config), ...own, ...more }, 'listening');
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => (await fetch(`${url}/api/v1/server/ready`)).ok, 60_000);
  return { pid, port, url };
}
