// Credentials that change while a server runs: of external stores, and the keys of its own ring.
import { expect } from 'chai';
import { newKeyRing } from '#operator/keys.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { images, node, UP_MS } from './support/cluster.ts';
import { type Home, startHome } from './support/home.ts';
import { type PodOptions, pod, runPod } from './support/pods.ts';
import { until } from './support/until.ts';

interface Ring {
  signing: { kid: string }[];
  sealing: { kid: string }[];
}
type StoreImages = Record<'postgres' | 'redis' | 'minio', string>;

const DATABASE = 'database';
const ROLL_MS = 240_000;
const PAUSED = 'foyer.media/reconcile';

const secret = (name: string, namespace: string, stringData: Record<string, string>): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  stringData,
});
const service = (name: string, namespace: string, port: number): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: { selector: { app: name }, ports: [{ port }] },
});
const claim = (name: string, namespace: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
const uri = {
  postgres: (password: string) => `postgres://foyer:${password}@${DATABASE}:5432/foyer`,
  redis: (password: string) => `redis://:${password}@cache:6379`,
};
const s3 = (secretKey: string) => ({ endpoint: 'http://s3:9000', accessKey: 'foyer', secretKey });
const script = (text: string): string[] => ['--input-type=module', '-e', text];

function minio(namespace: string, image: string, password: string): object {
  const env = { HOME: '/tmp', MINIO_ROOT_USER: 'foyer', MINIO_ROOT_PASSWORD: password };
  const args = ['server', '/data', '--address', ':9000'];
  return pod({ name: 's3', namespace, image, args, env, mounts: { '/data': 's3' } });
}

/** As a person runs them who has no operator for it. */
function stores(namespace: string, from: StoreImages): object[] {
  const data = '/var/lib/postgresql/data';
  const account = { POSTGRES_USER: 'foyer', POSTGRES_PASSWORD: 'first-password', POSTGRES_DB: 'foyer' };
  const database: PodOptions = {
    ...{ name: DATABASE, namespace, image: from.postgres, uid: 999 },
    env: { ...account, PGDATA: `${data}/pgdata` },
    mounts: { [data]: 'emptyDir', '/var/run/postgresql': 'emptyDir' },
  };
  const cache: PodOptions = {
    ...{ name: 'cache', namespace, image: from.redis, uid: 999 },
    args: ['--requirepass', 'first-password', '--dir', '/data', '--save', ''],
    mounts: { '/data': 'emptyDir' },
  };
  return [
    claim('s3', namespace),
    ...[pod(database), pod(cache), minio(namespace, from.minio, 'first-password')],
    ...[service(DATABASE, namespace, 5432), service('cache', namespace, 6379), service('s3', namespace, 9000)],
    secret(DATABASE, namespace, { uri: uri.postgres('first-password') }),
    secret('cache', namespace, { uri: uri.redis('first-password') }),
    secret('s3', namespace, s3('first-password')),
  ];
}

describe('a server whose credentials change', function () {
  this.timeout(2 * ROLL_MS);
  let home: Home;
  let product = '';
  let from: StoreImages;
  let hook = '';
  let made = 0;

  before(async function () {
    this.timeout(UP_MS);
    await node();
    const [first = '', postgres = '', redis = '', s3Image = ''] = await images('product', 'postgres', 'redis', 'minio');
    product = first;
    from = { postgres, redis, minio: s3Image };
    const external = {
      postgres: { secretRef: { name: DATABASE } },
      redis: { secretRef: { name: 'cache' } },
      objects: { secretRef: { name: 's3' } },
    };
    const spec = { ...external, transcode: { warm: 0 } };
    home = await startHome({ name: 'rotated', spec, extras: (namespace) => stores(namespace, from) });
    const { status, body } = await home.owner.createWebhook({
      body: { name: 'hook', url: 'https://hooks.example/secret-part', events: ['*'] },
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    hook = body.id;
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await home?.printState();
  });
  after(async function () {
    this.timeout(UP_MS);
    await home?.remove();
  });

  const run = (text: string): Promise<string> => {
    made += 1;
    return runPod(home.kubectl, { name: `ask-${made}`, namespace: home.namespace, image: product, args: script(text) });
  };
  /** As the Secret has it at that moment. */
  const sql = async (text: string): Promise<string> =>
    run(`import pg from 'pg'; const c = new pg.Client('${await home.secret(DATABASE, 'uri')}'); await c.connect();
      console.log(JSON.stringify((await c.query(${JSON.stringify(text)})).rows)); await c.end();`);
  const printState = (name: string, stringData: Record<string, string>): Promise<string> =>
    home.kubectl.patch(home.named('secret', name), { stringData });
  const podNames = async (): Promise<string[]> => {
    const all = await Promise.all(['api', 'workers'].map((component) => home.pods(component)));
    return all
      .flat()
      .map(({ metadata }) => metadata.name)
      .sort();
  };

  /**
   * None of the earlier pods is left, and all is well with the present ones. Requests of people continue meanwhile, or
   * receive a time to come back where the Secret is late.
   */
  async function rolledBy(change: () => Promise<unknown>, isLate = false): Promise<void> {
    const before = await podNames();
    const refused: number[] = [];
    const asking = new AbortController();
    const polling = (async () => {
      while (!asking.signal.aborted) {
        const { status } = await home.owner.listLibraries();
        if (status !== 200 && !(isLate && status === 503)) refused.push(status);
      }
    })();
    try {
      await change();
      await until(
        'other pods',
        async () => {
          const now = await podNames();
          return now.length === before.length && !now.some((name) => before.includes(name));
        },
        ROLL_MS,
      );
    } finally {
      asking.abort();
      await polling;
    }
    await home.reaches('Progressing', 'False Stable');
    await home.reaches('Ready', 'True AllReady');
    await home.reaches('Degraded', 'False AllReady'); // an unreachable server is checked again within seconds
    expect(refused).to.deep.equal([]);
  }

  it('continues with another password of its database', async () => {
    await sql("alter user foyer password 'second-password'");
    await rolledBy(() => printState(DATABASE, { uri: uri.postgres('second-password') }), true);
  });

  it('continues with another password of its Redis', async () => {
    await run(`import { Redis } from 'ioredis'; const r = new Redis('${uri.redis('first-password')}');
      await r.config('SET', 'requirepass', 'second-password'); r.disconnect();`);
    await rolledBy(() => printState('cache', { uri: uri.redis('second-password') }), true);
    expect(await home.condition('RedisReady')).to.equal('True Connected');
  });

  it('continues with other keys of its object store', async () => {
    const { kubectl, namespace } = home;
    await kubectl.run(['delete', 'pod', 's3', '-n', namespace]);
    await kubectl.apply(minio(namespace, from.minio, 'second-password'));
    await kubectl.wait(home.named('pod', 's3'), 'condition=Ready', 60);
    await rolledBy(() => printState('s3', s3('second-password')), true);
    expect(await home.condition('ObjectsReady')).to.equal('True Connected');
  });

  describe('of its own ring', () => {
    let before: Ring;
    const fresh = newKeyRing() as Ring;

    const ring = async (): Promise<Ring> => JSON.parse(await home.secret('home-keys', 'keys.json')) as Ring;
    const put = async (change: Partial<Ring>): Promise<unknown> =>
      printState('home-keys', { 'keys.json': JSON.stringify({ ...(await ring()), ...change }) });
    /** The key that seals the address of the webhook. */
    const kidOfHook = async (): Promise<string> => {
      const rows = await sql(`select split_part(url, '.', 1) as kid from webhooks where id = '${hook}'`);
      return (JSON.parse(rows) as { kid: string }[])[0]?.kid ?? '';
    };
    const haveIt = async (pods: readonly string[]): Promise<boolean> => {
      const words = (name: string) => ['exec', name, '-n', home.namespace, '--', 'cat', '/etc/foyer/keys/keys.json'];
      const texts = await Promise.all(pods.map((name) => home.kubectl.run(words(name))));
      return texts.every((text) => text.includes(fresh.sealing[0]?.kid ?? ''));
    };
    const hookUrl = async (): Promise<unknown> => (await home.owner.getWebhook({ params: { id: hook } })).body.url;

    it('takes a new key into use without a restart, and the workers seal lasting values again by it', async () => {
      before = await ring();
      expect(await kidOfHook()).to.equal(before.sealing[0]?.kid);
      const pause = (value: string | null) =>
        home.kubectl.patch(home.named('mediaserver', 'home'), { metadata: { annotations: { [PAUSED]: value } } });
      await pause('paused');
      await home.reaches('Progressing', 'False Suspended');
      const pods = await podNames();
      await put({ sealing: [...before.sealing, ...fresh.sealing], signing: [...before.signing, ...fresh.signing] });
      await until('every pod has the new key', () => haveIt(pods), ROLL_MS);
      await put({ sealing: [...fresh.sealing, ...before.sealing], signing: [...fresh.signing, ...before.signing] });
      await until('the new key', async () => (await kidOfHook()) === fresh.sealing[0]?.kid, ROLL_MS);
      expect(await podNames()).to.deep.equal(pods);
      expect(await hookUrl()).to.equal('https://hooks.example/secret-part');
      await rolledBy(() => pause(null));
    });

    it('loses nothing when the old key goes', async () => {
      // An hour has gone by: no one has a token any more that the old key signed.
      home.headers = (await home.viewer('rotated')).headers;
      await rolledBy(() => put({ sealing: fresh.sealing, signing: fresh.signing }));
      expect(await hookUrl()).to.equal('https://hooks.example/secret-part');
      const sets = await home.kubectl.list<KubeObject>('statefulsets', home.namespace);
      expect(sets).to.deep.equal([]);
      expect((await ring()).sealing.map(({ kid }) => kid)).to.deep.equal(fresh.sealing.map(({ kid }) => kid));
    });
  });
});
