import { expect } from 'chai';
import { mediaServerController } from '#operator/media-server/controller.ts';
import { reconcileMediaServer } from '#operator/media-server/reconcile.ts';
import { Refusal } from '#operator/runtime/faults.ts';
import { KEEP, type KubeObject, PermanentFault } from '#operator/runtime/kube.ts';
import { imageOf, managed, named, running, specOf, specs, texts, world } from './specs.ts';
import { CANARY, images, MemoryKube, mediaServer, secret, World } from './support.ts';

type Plain = Record<string, unknown>;

const configMap = (name: string, data: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'media' },
  data,
});

describe('faults of a MediaServer', () => {
  it('are reported with the remedy, roll nothing out and remove nothing', async () => {
    const here = await running(specs.external);
    const before = here.names('Deployment');
    here.kube.drop('Secret', 'database');
    here.change({ version: '2.0.0' });
    await here.settle();
    expect(here.condition('DatabaseReady')).to.equal('False SecretMissing');
    expect(here.message('DatabaseReady')).to.equal(
      'spec.postgres.secretRef: Secret database does not exist: create it',
    );
    expect(here.condition('Stalled')).to.equal('True SecretMissing');
    expect(here.condition('Ready'), 'it still runs').to.equal('True AllReady');
    expect(here.names('Deployment')).to.deep.equal(before);
    expect(imageOf(here.kube.get('Deployment', 'media', 'home-api'))).to.equal('foyer:1.0.0');
    here.kube.put(...named);
    await here.settle();
    expect(here.condition('Stalled')).to.equal('absent');
    expect(imageOf(here.kube.get('Deployment', 'media', 'home-api'))).to.equal('foyer:2.0.0');
  });

  const wrong: [string, Plain, (kube: MemoryKube) => void, string][] = [
    [
      'a key',
      specs.external ?? {},
      (kube) => kube.put(secret('oidc', { other: 'x' })),
      'SettingsValid False SecretInvalid',
    ],
    [
      'an address',
      specs.external ?? {},
      (kube) => kube.put(secret('cache', { uri: 'nowhere' })),
      'RedisReady False SecretInvalid',
    ],
    [
      'an endpoint',
      specs.external ?? {},
      (kube) => kube.put(secret('s3', { endpoint: 'nowhere', accessKey: 'a', secretKey: 'b' })),
      'ObjectsReady False SecretInvalid',
    ],
    [
      'a claim',
      specs.media ?? {},
      (kube) => kube.drop('PersistentVolumeClaim', 'films'),
      'MediaReady False VolumeMissing',
    ],
    [
      'a verifier',
      { ...managed, plus: { verifierKeys: { jwks: '{"keys":[]}' } } },
      () => undefined,
      'SettingsValid False SpecInvalid',
    ],
    [
      'a ConfigMap without its key',
      { ...managed, plus: { verifierKeys: { configMapRef: { name: 'plus' } } } },
      (kube) => kube.put(configMap('plus', { other: 'x' })),
      'SettingsValid False SpecInvalid',
    ],
    [
      'a mail relay',
      specs.external ?? {},
      (kube) => kube.put(secret('mail', { host: 'smtp.example', from: 'a@example', port: 'smtp', token: 't' })),
      'SettingsValid False SecretInvalid',
    ],
    [
      'a ConfigMap',
      { ...managed, branding: { configMapRef: { name: 'brand' } } },
      () => undefined,
      'SettingsValid False ConfigMapMissing',
    ],
  ];
  for (const [what, spec, spoil, expected] of wrong)
    it(`name ${what}`, async () => {
      const here = world(spec);
      spoil(here.kube);
      await here.settle();
      const [type = '', ...rest] = expected.split(' ');
      expect(here.condition(type)).to.equal(rest.join(' '));
      expect(here.condition('Ready')).to.match(/^False/);
      expect(here.names('Deployment')).to.deep.equal([]);
    });

  it('name an API server without the required definitions', async () => {
    const kube = new MemoryKube([]).put(...named);
    const here = new World(mediaServer(specs.cloudNativePG ?? {}), kube);
    await here.settle();
    expect(here.condition('DatabaseReady')).to.equal('False NotServed');
    expect(here.condition('Ready'), 'and says why').to.equal('False NotServed');
    expect(here.condition('IngressReady')).to.equal('False NotServed');
    expect(here.names('Cluster')).to.deep.equal([]);
    expect([...kube.sought], 'and the required definitions are checked').to.have.members(['Cluster', 'HTTPRoute']);
  });

  it('of the object itself stop the pass', async () => {
    const unknown = world({ ...managed, tomorrow: true });
    await unknown.pass();
    expect(unknown.condition('Ready')).to.equal('False SpecInvalid');
    expect(unknown.names('Secret')).to.have.length(named.length - 2);
  });

  it('of the API server become a condition, and the pass fails', async () => {
    for (const [fault, reason] of [
      [new Refusal({ status: 422, reason: 'Invalid', message: 'no', retryAfterMs: undefined }), 'Refused'],
      [new PermanentFault('taken'), 'NameTaken'],
    ] as const) {
      const here = await running();
      here.kube.apply = () => Promise.reject(fault);
      const failed = await here.pass().catch((error: unknown) => error);
      expect(failed).to.equal(fault);
      expect(here.condition('Stalled')).to.equal(`True ${reason}`);
      expect(here.condition('Ready')).to.equal('True AllReady');
    }
  });

  it('report pods that cannot start', async () => {
    const here = world();
    await here.settle({ stuck: ['home-api'] });
    const labels = {
      'app.kubernetes.io/name': 'foyer',
      'app.kubernetes.io/instance': 'home',
      'app.kubernetes.io/component': 'api',
    };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'home-api-1', namespace: 'media', labels },
      spec: { containers: [] },
    };
    const waiting = (reason: string) => ({ containerStatuses: [{ restartCount: 3, state: { waiting: { reason } } }] });
    here.kube.put({ ...pod, status: waiting('ErrImagePull') });
    await here.pass();
    expect(here.condition('Ready')).to.equal('False ImageUnavailable');
    here.kube.put({ ...pod, status: waiting('CrashLoopBackOff') });
    await here.pass();
    expect(here.condition('Ready')).to.equal('False CrashLooping');
    expect(here.message('Ready')).to.contain('kubectl logs -p home-api-1');
    here.kube.put({
      ...pod,
      status: { conditions: [{ type: 'PodScheduled', status: 'False', message: 'no memory' }] },
    });
    await here.pass();
    expect(here.condition('Ready')).to.equal('False Unschedulable');
    expect(here.condition('Degraded')).to.equal('True Unschedulable');
  });
});

describe('MediaServer in operation', () => {
  it('reports the state of its licence, which is read rarely', async () => {
    const here = await running();
    expect(here.status.plus).to.deep.equal({ mode: 'open' });
    const endsAt = '2026-02-01T00:00:00Z';
    for (const [state, mode] of [
      ['grace', 'licensed'],
      ['none', 'none'],
      ['lapsed', 'lapsed'],
    ]) {
      here.answers.plus = { mode: 'licensed', state, ...(state !== 'none' && { endsAt }) };
      await here.pass();
      expect(here.status.plus?.mode).not.to.equal(mode);
      here.later(30_000);
      await here.pass();
      expect(here.status.plus).to.deep.equal({ mode, ...(state !== 'none' && { endsAt }) });
    }
  });

  it('is not requested for each of many changes', async () => {
    const here = await running();
    let requests = 0;
    const { connect } = here.tools;
    here.tools.connect = (server, key) => {
      const { request, metrics } = connect(server, key);
      return { request: (...words) => request(...words).finally(() => requests++), metrics };
    };
    const pass = () =>
      reconcileMediaServer({ namespace: 'media', name: 'home' }, here.kube, { now: here.now, tools: here.tools });
    here.later(5000);
    for (let count = 0; count < 10; count++) await pass();
    expect(requests).to.equal(6); // ready, info, health, backups, their settings, and the claim while the server has no owner
    expect(here.condition('Ready')).to.equal('True AllReady');
  });

  it('restarts processes with the keys of licences that a ConfigMap has now', async () => {
    const jwks = (kid: string) => {
      const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
      return JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', x, kid }] });
    };
    const here = world({ ...managed, plus: { verifierKeys: { configMapRef: { name: 'plus' } } } });
    here.kube.put(configMap('plus', { 'jwks.json': jwks('one') }));
    await here.settle();
    expect(here.condition('PlusReady')).to.equal('True Valid');
    const api = () => JSON.stringify(specOf(here, 'Deployment', 'home-api').template);
    expect(api()).to.contain('\\"one\\"');
    here.kube.put(configMap('plus', { 'jwks.json': jwks('two') }));
    await here.settle();
    expect(api()).to.contain('\\"two\\"');
    here.kube.put(configMap('plus', { 'jwks.json': 'gone' }));
    await here.settle();
    expect(here.condition('PlusReady')).to.equal('False SpecInvalid');
    expect(here.condition('Ready'), 'as it was').to.equal('True AllReady');
    expect(api()).to.contain('\\"two\\"');
  });

  it('reports a parser that opens nothing, and is Ready without it', async () => {
    const here = world();
    await here.settle({ stuck: ['home-parser'] });
    expect(here.condition('ParserReady')).to.equal('False Starting');
    expect(here.condition('Degraded')).to.equal('False RollingOut');
    expect(here.condition('Ready')).to.equal('True AllReady');
    here.later(5 * 60_000);
    await here.pass();
    expect(here.condition('ParserReady')).to.equal('False Unavailable');
    expect(here.condition('Degraded')).to.equal('True Unavailable');
    await here.settle();
    expect(here.condition('ParserReady')).to.equal('True Running');
    expect(here.condition('Degraded')).to.equal('False AllReady');
    const without = await running({ ...managed, parser: { replicas: 0 } });
    expect(without.condition('ParserReady')).to.equal('False ScaledToZero');
  });

  it('reports stores that the server lost', async () => {
    const here = await running();
    here.answers.health = { database: 'ok', redis: 'down', objects: 'ok' };
    await here.pass();
    expect(here.condition('RedisReady')).to.equal('False RedisUnreachable');
    expect(here.condition('Ready')).to.equal('True AllReady');
    expect(here.condition('Degraded')).to.equal('True RedisUnreachable');
    expect(here.status.phase).to.equal('Degraded: RedisUnreachable');
    expect(here.kube.events.map(({ type, reason }) => `${type} ${reason}`)).to.include('Warning RedisUnreachable');
    here.answers.health = { database: 'ok', redis: 'ok', objects: 'ok' };
    await here.pass();
    expect(here.kube.events.at(-1)).to.include({ type: 'Normal' });
  });

  it('keeps a key ring that was rotated, and rolls the pods that have it', async () => {
    const here = await running();
    const ringOf = (): Plain => JSON.parse(texts(here, 'home-keys')['keys.json'] ?? '') as Plain;
    const checksums = () =>
      ['home-api', 'home-workers'].map((name) => {
        const { spec } = here.kube.get('Deployment', 'media', name) as KubeObject;
        const { template } = spec as { template: { metadata: { annotations: Record<string, string> } } };
        return template.metadata.annotations['foyer.media/checksum'];
      });
    const before = { ring: ringOf(), checksums: checksums() };
    const fresh = { kid: 'fresh', key: Buffer.alloc(32, 7).toString('base64') };
    const rotated = { ...before.ring, sealing: [fresh] };
    const { metadata } = here.kube.get('Secret', 'media', 'home-keys') as KubeObject;
    here.kube.put({ ...secret('home-keys', { 'keys.json': JSON.stringify(rotated) }), metadata });
    await here.settle();
    expect(ringOf()).to.deep.equal(rotated);
    for (const [i, now] of checksums().entries()) expect(now).to.not.equal(before.checksums[i]);
    expect(here.condition('Ready')).to.equal('True AllReady');
    const settled = checksums();
    await here.settle();
    expect(checksums(), 'and is left alone then').to.deep.equal(settled);
  });

  it('reports secrets that no key opens any more, and when all are read again', async () => {
    const here = await running();
    here.answers.health = { database: 'ok', redis: 'ok', objects: 'ok', keys: 'degraded' };
    await here.pass();
    expect(here.condition('Ready')).to.equal('True AllReady');
    expect(here.condition('Degraded')).to.equal('True SealedKeyMismatch');
    expect(here.message('Degraded')).to.contain('home-keys');
    here.answers.health = { database: 'ok', redis: 'ok', objects: 'ok', keys: 'ok' };
    await here.pass();
    expect(here.condition('Degraded')).to.equal('False AllReady');
  });

  it('reports once that claim codes are blocked, and again the next time', async () => {
    const here = await running();
    const blockedEvents = () => here.kube.events.filter(({ reason }) => reason === 'ClaimBlocked').length;
    const block = () => {
      here.answers.blockedUntil = new Date(here.now.getTime() + 900_000).toISOString();
    };
    block();
    for (let passes = 0; passes < 3; passes += 1) await here.pass();
    expect(blockedEvents()).to.equal(1);
    here.later(900_000);
    block();
    await here.pass();
    expect(blockedEvents()).to.equal(2);
  });

  it('does nothing while it is suspended', async () => {
    const here = await running();
    here.change({ suspend: true, workers: { replicas: 9 } });
    here.kube.drop('Service', 'home-api');
    await here.pass();
    expect(here.names('Service')).not.to.include('home-api');
    expect(here.condition('Progressing')).to.equal('False Suspended');
    expect(here.status.phase).to.equal('Suspended');
    here.change({ suspend: false });
    await here.settle();
    expect(here.names('Service')).to.include('home-api');
  });

  it('does nothing either while an annotation pauses it', async () => {
    const here = await running();
    const pause = (annotations: object): void => {
      const server = here.kube.get('MediaServer', 'media', 'home');
      if (server) here.kube.put({ ...server, metadata: { ...server.metadata, ...annotations } });
    };
    pause({ annotations: { 'foyer.media/reconcile': 'paused' } });
    here.kube.drop('Service', 'home-api');
    await here.pass();
    expect(here.names('Service')).not.to.include('home-api');
    expect(here.condition('Progressing')).to.equal('False Suspended');
    pause({ annotations: {} });
    await here.settle();
    expect(here.names('Service')).to.include('home-api');
  });

  it('leaves the number of pods to an autoscaler', async () => {
    const here = await running(specs.autoscaled);
    expect(here.kube.get('Deployment', 'media', 'home-api')?.spec).not.to.have.property('replicas');
    expect(here.names('PodDisruptionBudget')).to.deep.equal(['home-api']);
    expect(here.names('HorizontalPodAutoscaler')).to.deep.equal(['home-api']);
  });

  it('does not change an existing volume, and reports so', async () => {
    const here = await running();
    const claims = (): unknown => specOf(here, 'StatefulSet', 'home-postgres').volumeClaimTemplates;
    const before = claims();
    here.change({ postgres: { managed: { storage: '99Gi' } } });
    await here.settle();
    expect(claims()).to.deep.equal(before);
    expect(here.condition('SettingsValid')).to.equal('False CannotChange');
    expect(here.message('SettingsValid')).to.contain('data-home-postgres-0');
  });

  it('leaves a claim unchanged that an older operator created: the API server would refuse it', async () => {
    const here = await running();
    const set = here.kube.get('StatefulSet', 'media', 'home-postgres');
    if (!set) throw new Error('no set');
    const old = structuredClone(set) as unknown as { spec: { volumeClaimTemplates: { metadata: object }[] } };
    for (const { metadata } of old.spec.volumeClaimTemplates)
      Object.assign(metadata, { annotations: { [KEEP]: 'true' } });
    here.kube.put(old as unknown as KubeObject);
    await here.settle();
    const text = JSON.stringify(here.kube.get('StatefulSet', 'media', 'home-postgres'));
    expect(text).to.not.contain('argocd');
    expect(JSON.stringify(set)).to.contain('argocd');
  });

  it('reports whether any route leads in', async () => {
    const here = await running(specs.autoscaled);
    expect(here.condition('IngressReady')).to.equal('False NoAddress');
    expect(here.status.url).to.equal('https://films.example');
    const object = here.kube.get('Ingress', 'media', 'home') as KubeObject;
    here.kube.put({ ...object, status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } });
    await here.pass();
    expect(here.condition('IngressReady')).to.equal('True Accepted');
    const gateway = await running(specs.cloudNativePG);
    expect(gateway.condition('IngressReady')).to.equal('False NotAccepted');
    const route = gateway.kube.get('HTTPRoute', 'media', 'home') as KubeObject;
    gateway.kube.put({ ...route, status: { parents: [{ conditions: [{ type: 'Accepted', status: 'True' }] }] } });
    await gateway.pass();
    expect(gateway.condition('IngressReady')).to.equal('True Accepted');
  });
});

describe('owner recovery', () => {
  const request = { 'foyer.media/owner-recovery': 'please' };
  const secrets = (here: World): string[] => here.names('Secret').filter((name) => name.includes('recovery'));

  it('leaves a token in a Secret for a day, once a value', async () => {
    const here = await running();
    here.annotate(request);
    await here.settle();
    const [name = ''] = secrets(here);
    expect(texts(here, name).token).to.match(/^foypr_/);
    expect(here.status.recovery?.secretName).to.equal(name);
    expect(here.status.recovery?.expiresAt).to.match(/^2026-01-02T/);
    expect(
      here.names('Job').filter((job) => job.includes('recover')),
      'its Job is over',
    ).to.deep.equal([]);
    const events = here.kube.events.filter(({ reason }) => reason === 'RecoveryReady');
    expect(events).to.have.length(1);
    expect(JSON.stringify(here.kube.events)).not.to.contain(CANARY);
    here.later(25 * 3_600_000);
    await here.settle();
    expect(secrets(here)).to.deep.equal([]);
    expect(here.status.recovery).to.equal(undefined);
    await here.settle();
    expect(secrets(here), 'answered once').to.deep.equal([]);
    here.annotate({ 'foyer.media/owner-recovery': 'again' });
    await here.settle();
    expect(secrets(here)).to.have.length(1).and.not.to.include(name);
  });

  it('passes the hash to the Job alone', async () => {
    const here = await running();
    here.annotate(request);
    await here.pass();
    const job = here.kube.list('Job', 'media').find(({ metadata }) => metadata.name.includes('recover'));
    const { template } = (job?.spec ?? {}) as { template?: { spec: { containers: { args: string[] }[] } } };
    const args = template?.spec.containers[0]?.args;
    expect(args?.[0]).to.equal('api/recover-owner.ts');
    expect(args?.[1]).to.match(/^[0-9a-f]{64}$/);
  });

  it('that fails is reported, and not repeated', async () => {
    const here = await running();
    here.annotate(request);
    await here.settle({ failing: ['recover'] });
    expect(secrets(here)).to.deep.equal([]);
    expect(here.kube.events.filter(({ reason }) => reason === 'RecoveryFailed')).to.have.length(1);
  });
});

describe('changes that concern a MediaServer', () => {
  const { watches } = mediaServerController({
    images,
    clusterNetworks: [],
    connect: () => ({ request: () => Promise.reject(new Error()), metrics: async () => undefined }),
  });
  const concerned = (object: KubeObject, kube: MemoryKube): string[] => {
    const watch = watches.find(({ kind }) => kind === object.kind);
    return (watch?.keys?.(object, kube) ?? []).map(({ namespace, name }) => `${namespace}/${name}`);
  };
  const kube = new MemoryKube().put(mediaServer(specs.external ?? {}));

  it('are those of Secrets that it names, that CloudNativePG makes for it, and that are its own', () => {
    expect(concerned(secret('database', {}), kube)).to.deep.equal(['media/home']);
    expect(concerned(secret('home-postgres-app', {}), kube)).to.deep.equal(['media/home']);
    expect(concerned(secret('stranger', {}), kube)).to.deep.equal([]);
    const labels = { 'app.kubernetes.io/name': 'foyer', 'app.kubernetes.io/instance': 'home' };
    const own = secret('home-keys', {});
    expect(concerned({ ...own, metadata: { ...own.metadata, labels } }, kube)).to.deep.equal(['media/home']);
  });

  it('are claims that it mounts', () => {
    const mounting = new MemoryKube().put(mediaServer(specs.media ?? {}));
    const claim = (name: string) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: 'media' },
    });
    expect(concerned(claim('films'), mounting)).to.deep.equal(['media/home']);
    expect(concerned(claim('film'), mounting)).to.deep.equal([]);
  });

  it('are pods of its Jobs that cannot be made', () => {
    const labels = { 'app.kubernetes.io/name': 'foyer', 'app.kubernetes.io/instance': 'home' };
    const metadata = { name: 'home-transcode-0', namespace: 'media', uid: 'j', labels };
    const withJob = new MemoryKube().put({ apiVersion: 'batch/v1', kind: 'Job', metadata });
    const about = (kind: string, name: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name}.1`, namespace: 'media' },
      reason: 'FailedCreate',
      involvedObject: { kind, namespace: 'media', name, uid: 'j' },
    });
    expect(concerned(about('Job', 'home-transcode-0'), withJob)).to.deep.equal(['media/home']);
    expect(concerned(about('Job', 'others'), withJob)).to.deep.equal([]);
    expect(concerned(about('ReplicaSet', 'home-transcode-0'), withJob)).to.deep.equal([]);
  });

  it('are Libraries that come and go, not their states', () => {
    const metadata = { name: 'films', namespace: 'media', uid: 'l' };
    const library = {
      apiVersion: 'foyer.media/v1alpha1',
      kind: 'Library',
      metadata,
      spec: { serverRef: { name: 'home' } },
    };
    kube.put(library);
    expect(concerned(library, kube)).to.deep.equal(['media/home']);
    expect(concerned({ ...library, status: { items: 3 } }, kube)).to.deep.equal([]);
    kube.drop('Library', 'films');
    expect(concerned(library, kube)).to.deep.equal(['media/home']);
  });
});
