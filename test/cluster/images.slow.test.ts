// The images of hack/image in pods of a namespace that enforces Pod Security `restricted`, with a read-only root.
import { expect } from 'chai';
import { images, node, UP_MS } from './support/cluster.ts';
import type { Kubectl } from './support/kubectl.ts';
import { type PodOptions, pod, runPod } from './support/pods.ts';
import { until } from './support/until.ts';

const PASSWORD = 'correct-horse';
const claim = (name: string, namespace: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '100Mi' } } },
});

/** A program of Node with the product's modules, as words of the entrypoint. */
const script = (text: string) => ['--input-type=module', '-e', text];

describe('images', function () {
  this.timeout(180_000);
  let kubectl: Kubectl;
  let namespace: string;
  let product: string;
  let stores: Record<'postgres' | 'redis' | 'minio', string>;

  before(async function () {
    this.timeout(UP_MS);
    ({ kubectl } = await node());
    const [first = '', postgres = '', redis = '', minio = ''] = await images('product', 'postgres', 'redis', 'minio');
    product = first;
    stores = { postgres, redis, minio };
    namespace = await kubectl.namespace('images');
  });
  after(() => kubectl.deleteNamespace(namespace));

  async function addressOf(options: Omit<PodOptions, 'namespace'>): Promise<string> {
    const { name } = options;
    await kubectl.apply(pod({ ...options, namespace }));
    return until(`an address of pod ${name}`, async () => {
      const made = await kubectl.find<{ status: { podIP?: string; phase: string } }>({ kind: 'pod', name, namespace });
      return made?.status.phase === 'Running' && made.status.podIP;
    });
  }
  const inProduct = (name: string, args: string[]) => runPod(kubectl, { name, namespace, image: product, args });

  it('the product is Node 24 and runs its own TypeScript as user 1000', async () => {
    const printed = await inProduct('node', script('console.log(process.version, process.getuid())'));
    expect(printed.trim()).to.match(/^v24\.\d+\.\d+ 1000$/);
    expect(await inProduct('operator', ['operator/bundle/main.js', '--help'])).to.include('operator');
  });

  it('the product encodes H.264 and AAC, and reads its own output', async () => {
    const make =
      'ffmpeg -v error -f lavfi -i testsrc=d=1:s=160x90 -f lavfi -i sine=d=1 -c:v libx264 -c:a aac /tmp/a.mp4';
    const read = 'ffprobe -v error -show_entries stream=codec_name -of csv=p=0 /tmp/a.mp4';
    const jail = 'prlimit --as=4000000000 -- nice -n 5 setpriv --pdeathsig KILL'; // as workers start it
    const command = ['sh', '-c', `${make} && ${jail} ${read}`];
    expect(
      (await runPod(kubectl, { name: 'ffmpeg', namespace, image: product, command })).split(/\s+/),
    ).to.include.members(['h264', 'aac']);
  });

  it('the product loads every native module that it carries', async () => {
    const text = `import { globSync } from 'node:fs';
      const found = globSync('node_modules/**/*.node');
      for (const file of found) process.dlopen({ exports: {} }, '/app/' + file);
      console.log(found.length);`;
    expect(Number(await inProduct('native', script(text)))).to.be.greaterThan(0);
  });

  it('the product cannot write to its own code', async () => {
    const text =
      "import { writeFileSync } from 'node:fs'; try { writeFileSync('/app/x', '') } catch (e) { console.log(e.code) }";
    expect((await inProduct('read-only', script(text))).trim()).to.equal('EROFS');
  });

  it('Postgres creates the requested database and user, and keeps them over a restart', async () => {
    await kubectl.apply(claim('postgres', namespace));
    const env = {
      POSTGRES_USER: 'foyer',
      POSTGRES_PASSWORD: PASSWORD,
      POSTGRES_DB: 'library',
      PGDATA: '/var/lib/postgresql/data/pgdata',
    };
    const mounts = { '/var/lib/postgresql/data': 'postgres', '/var/run/postgresql': 'emptyDir' };
    const options = {
      name: 'postgres',
      image: stores.postgres,
      env,
      mounts,
      uid: 999,
      args: ['-c', 'max_connections=50'],
    };
    const queryArgs = (sql: string, host: string) =>
      script(`import pg from 'pg';
        for (let n = 0; ; n++) try {
          const c = new pg.Client('postgres://foyer:${PASSWORD}@${host}/library'); await c.connect();
          console.log(JSON.stringify((await c.query("${sql}")).rows)); await c.end(); break;
        } catch (e) { if (n > 100) throw e; await new Promise((r) => setTimeout(r, 200)); }`);
    const first = await addressOf(options);
    expect(await inProduct('pg-1', queryArgs('create table t as select 7 as n', first))).to.include('[]');
    await kubectl.run(['delete', 'pod', 'postgres', '-n', namespace]);
    const second = await addressOf(options);
    expect(
      await inProduct('pg-2', queryArgs("select n, current_setting('max_connections') m from t", second)),
    ).to.include('[{"n":7,"m":"50"}]');
    const probe = ['exec', 'postgres', '-n', namespace, '--', 'pg_isready'];
    expect(await kubectl.run(probe)).to.include('accepting connections');
    expect((await kubectl.attempt([...probe, '-p', '1'])).code).to.equal(2);
    const wrong = queryArgs('select 1', second).map((word) =>
      word.replace(PASSWORD, 'wrong').replace('n > 100', 'true'),
    );
    expect(await inProduct('pg-3', wrong).catch((error: Error) => error.message)).to.include('authentication failed');
  });

  it('Redis takes the arguments of redis-server', async () => {
    const args = ['--requirepass', PASSWORD, '--maxmemory', '10mb'];
    const host = await addressOf({
      name: 'redis',
      image: stores.redis,
      args,
      uid: 999,
      mounts: { '/data': 'emptyDir' },
    });
    const text = `import { Redis } from 'ioredis'; const r = new Redis('redis://:${PASSWORD}@${host}:6379');
      await r.set('a', 'b'); console.log(await r.get('a'), (await r.config('GET', 'maxmemory'))[1]); r.disconnect();`;
    expect((await inProduct('redis-1', script(text))).trim()).to.equal('b 10485760');
  });

  it('MinIO serves a bucket to the credentials of its environment', async () => {
    const env = { MINIO_ROOT_USER: 'foyer', MINIO_ROOT_PASSWORD: PASSWORD };
    const mounts = { '/data': 'emptyDir' };
    const args = ['server', '/data', '--address', ':9000'];
    const endPoint = await addressOf({ name: 'minio', image: stores.minio, args, env, mounts });
    const text = `import { Client } from 'minio';
      const c = new Client({ endPoint: '${endPoint}', port: 9000, useSSL: false, accessKey: 'foyer', secretKey: '${PASSWORD}' });
      for (let n = 0; ; n++) try { await c.makeBucket('foyer-a'); break; } catch (e) { if (n > 50) throw e; await new Promise((r) => setTimeout(r, 200)); }
      console.log((await c.listBuckets()).map((b) => b.name).join());`;
    expect((await inProduct('minio-1', script(text))).trim()).to.equal('foyer-a');
  });
});
