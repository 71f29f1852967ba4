import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { MediaServerStatus } from '#operator/schemas/media-server.ts';
import { imageOf, jobs, managed, running, specOf, specs, texts, world } from './specs.ts';
import { CANARY, MemoryKube, mediaServer, secret, World } from './support.ts';

describe('first roll-out of a MediaServer', () => {
  it('waits for stores, then for the migration, then for pods, and reports so', async () => {
    const made = world();
    await made.pass();
    expect(made.names('Job')).to.deep.equal([]);
    expect(made.names('Deployment')).to.deep.equal([]);
    expect(made.condition('Ready')).to.equal('False Starting');
    expect(made.condition('MigrationsApplied')).to.equal('False WaitingForDatabase');
    expect(made.condition('Reconciling')).to.equal('True WaitingForDatabase');

    made.kube.play(made.now, { stuck: ['migrate'] });
    await made.pass();
    expect(jobs(made, 'expand')).to.have.length(1);
    await made.pass();
    expect(made.condition('MigrationsApplied')).to.equal('False MigrationPending');
    expect(made.names('Deployment'), 'before the schema is there').to.deep.equal([]);

    made.kube.play(made.now, { stuck: ['api', 'workers'] });
    await made.pass();
    expect(made.names('Deployment')).to.deep.equal(['home-api', 'home-parser', 'home-workers']);
    await made.pass();
    expect(made.condition('MigrationsApplied')).to.equal('True Completed');
    expect(made.condition('Ready')).to.equal('False Starting');
    expect(made.condition('Progressing')).to.equal('True RollingOut');
    expect(jobs(made, 'contract')).to.deep.equal([]);

    await made.settle();
    expect(made.condition('Ready')).to.equal('True AllReady');
    expect(made.condition('Progressing')).to.equal('False Stable');
    expect(made.condition('Reconciling')).to.equal('absent');
    expect(jobs(made, 'contract'), 'once every pod is of this version').to.have.length(1);
  });

  it('starts each store once', async () => {
    const made = await running();
    const sets = made.kube.list('StatefulSet', 'media').map(({ metadata }) => [metadata.name, metadata.generation]);
    expect(sets).to.deep.equal([
      ['home-postgres', 1],
      ['home-redis', 1],
      ['home-objects', 1],
    ]);
  });

  it('ends in a status that fits its schema, and a pass that writes nothing', async () => {
    const made = await running();
    expect(await made.pass()).to.equal(0);
    made.later(3_600_000);
    expect(await made.pass()).to.equal(0);
    expect(MediaServerStatus.parse(made.status)).to.deep.include({
      observedGeneration: 1,
      phase: 'Running',
      version: '1.0.0',
      url: 'http://home-api.media.svc:8080',
      apiReady: '2/2',
      replicas: 2,
      selector: 'app.kubernetes.io/name=foyer,app.kubernetes.io/instance=home,app.kubernetes.io/component=api',
      claim: { secretName: 'home-claim' },
      libraries: 0,
    });
    const types = made.status.conditions?.map(({ type }) => type);
    expect(types).to.include.members([
      ...['Ready', 'Progressing', 'Degraded', 'DatabaseReady', 'ObjectsReady', 'RedisReady', 'MigrationsApplied'],
      ...['TranscodeReady', 'SubtitlesReady', 'IngressReady', 'ParserReady', 'PluginsReady', 'SettingsValid'],
      'BackupsHealthy',
    ]);
    for (const { observedGeneration } of made.status.conditions ?? []) expect(observedGeneration).to.equal(1);
  });

  it('makes transcode workers from the pool', async () => {
    const made = await running({ ...managed, transcode: { warm: 2, max: 3 } });
    expect(made.names('Job').filter((name) => name.includes('transcode'))).to.deep.equal([
      'home-transcode-0',
      'home-transcode-1',
    ]);
    expect(made.status.transcode).to.deep.include({ jobs: 2, sessions: 0, waiting: 0 });
  });
});

describe('claim of a MediaServer', () => {
  it('goes once the server has an owner, and no migration runs for it', async () => {
    const made = await running();
    const before = made.names('Job');
    expect(texts(made, 'home-claim').code).to.contain(CANARY);
    made.answers.setupComplete = true;
    await made.settle();
    expect(made.names('Secret')).not.to.include('home-claim');
    expect(made.status.claim).to.equal(undefined);
    expect(made.names('Job')).to.deep.equal(before);
  });

  it('stays while the server does not answer', async () => {
    const made = await running();
    const { code } = texts(made, 'home-claim');
    made.answers.reachable = false;
    const writes = made.kube.writes;
    await made.pass();
    expect(made.kube.writes, 'one unanswered request is no news').to.equal(writes);
    expect(made.condition('Ready')).to.equal('True AllReady');
    made.later(30_000);
    await made.pass();
    expect(texts(made, 'home-claim').code).to.equal(code);
    expect(made.condition('Ready')).to.equal('False ApiUnreachable');
    made.answers.reachable = true;
    await made.pass();
    expect(made.condition('Ready')).to.equal('True AllReady');
  });

  it('is not made where a Secret names the owner', async () => {
    const made = await running({ ...managed, ownerSecretRef: { name: 'owner' } });
    expect(made.names('Secret')).not.to.include('home-claim');
    expect(texts(made, 'home-owner')['owner.json']).to.contain('ann');
  });
});

describe('Secrets made once', () => {
  const made = ['home-keys', 'home-operator-key', 'home-postgres', 'home-redis', 'home-objects', 'home-claim'];

  it('are never generated again', async () => {
    const here = await running();
    const before = made.map((name) => texts(here, name));
    here.change({ workers: { replicas: 3 } });
    await here.settle();
    expect(made.map((name) => texts(here, name))).to.deep.equal(before);
  });

  it('of kept data are used by a server that is created again', async () => {
    const before = await running();
    const kube = new MemoryKube();
    for (const object of before.kube.list('Secret', 'media'))
      if (object.metadata.annotations?.['foyer.media/keep']) kube.put(object);
    expect(kube.objects.size).to.equal(3);
    const after = new World(
      { ...mediaServer(managed), metadata: { ...mediaServer({}).metadata, uid: 'another' } },
      kube,
    );
    await after.settle();
    for (const name of ['home-keys', 'home-postgres', 'home-objects'])
      expect(texts(after, name), name).to.deep.equal(texts(before, name));
  });

  it('but for the operator’s key, once a value of the annotation', async () => {
    const here = await running();
    const { key } = texts(here, 'home-operator-key');
    const pods = here.kube.get('Deployment', 'media', 'home-api')?.spec;
    here.annotate({ 'foyer.media/rotate-operator-key': 'now' });
    await here.settle();
    const rotated = texts(here, 'home-operator-key').key;
    expect(rotated).not.to.equal(key);
    expect(here.kube.get('Deployment', 'media', 'home-api')?.spec, 'pods do not know the key').to.deep.equal(pods);
    await here.settle();
    expect(texts(here, 'home-operator-key').key).to.equal(rotated);
    expect(here.kube.events.filter(({ reason }) => reason === 'KeyRotated')).to.have.length(1);
  });
});

describe('roll-out of another version', () => {
  it('is expand, roll, contract; the old pods stay as they are until the schema is there', async () => {
    const here = await running();
    here.change({ version: '2.0.0', api: { replicas: 3 } });
    await here.pass();
    here.kube.play(here.now);
    await here.pass();
    await here.pass();
    expect(imageOf(here.kube.get('Deployment', 'media', 'home-api'))).to.equal('foyer:1.0.0');
    expect(here.kube.get('Deployment', 'media', 'home-api')?.spec, 'scaling does not wait').to.include({ replicas: 3 });
    expect(here.condition('Ready')).to.equal('True AllReady');
    expect(here.condition('Reconciling')).to.equal('True MigrationPending');

    const [expand] = jobs(here, 'expand');
    expect(imageOf(expand)).to.equal('foyer:2.0.0');
    here.kube.play(here.now);
    await here.pass();
    expect(imageOf(here.kube.get('Deployment', 'media', 'home-api'))).to.equal('foyer:2.0.0');
    const contracted = (): string[] => jobs(here, 'contract').flatMap((job) => imageOf(job) ?? []);
    expect(contracted(), 'not while an old pod may run').not.to.include('foyer:2.0.0');
    await here.settle();
    expect(contracted()).to.deep.equal(['foyer:2.0.0']);
  });

  it('does not contract while a pod of the old version still runs', async () => {
    const here = await running();
    here.kube.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'home-api-old',
        namespace: 'media',
        labels: { 'app.kubernetes.io/name': 'foyer', 'app.kubernetes.io/instance': 'home' },
      },
      spec: { containers: [{ name: 'api', image: 'foyer:1.0.0' }] },
    });
    here.change({ version: '2.0.0' });
    await here.settle();
    expect(jobs(here, 'contract').map(imageOf)).not.to.include('foyer:2.0.0');
    here.kube.drop('Pod', 'home-api-old');
    await here.settle();
    expect(jobs(here, 'contract').map(imageOf)).to.deep.equal(['foyer:2.0.0']);
  });

  it('whose migration fails leaves the old one in place, heals it, and is tried again', async () => {
    const here = await running();
    here.change({ version: '2.0.0' });
    for (let turn = 0; turn < 3; turn++) {
      await here.pass();
      here.kube.play(here.now, { failing: ['migrate'] });
    }
    await here.pass();
    expect(here.condition('MigrationsApplied')).to.equal('False MigrationFailed');
    expect(here.condition('Stalled')).to.equal('True MigrationFailed');
    expect(here.condition('Degraded')).to.equal('True MigrationFailed');
    expect(here.condition('Ready')).to.equal('True AllReady');
    here.kube.drop('Deployment', 'home-api');
    await here.pass();
    expect(imageOf(here.kube.get('Deployment', 'media', 'home-api'))).to.equal('foyer:1.0.0');

    const failed = here.names('Job');
    here.later(6 * 60_000);
    await here.pass();
    expect(here.names('Job'), 'the failed Job goes').not.to.deep.equal(failed);
    await here.settle();
    expect(imageOf(here.kube.get('Deployment', 'media', 'home-api'))).to.equal('foyer:2.0.0');
    expect(here.condition('Stalled')).to.equal('absent');
  });

  it('keeps the Secrets of pods that still run with them', async () => {
    const here = await running(specs.external);
    const environments = (): string[] => here.names('Secret').filter((name) => name.includes('environment'));
    const before = environments();
    here.kube.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'old',
        namespace: 'media',
        labels: { 'app.kubernetes.io/name': 'foyer', 'app.kubernetes.io/instance': 'home' },
      },
      spec: { containers: [{ name: 'api', image: 'foyer:1.0.0', env: [{ from: before[0] }] }] },
    });
    here.change({ settings: { 'server.name': 'Other' } });
    await here.settle();
    expect(environments()).to.have.length(2).and.to.include.members(before);
    here.kube.drop('Pod', 'old');
    await here.settle();
    expect(environments()).to.have.length(1).and.not.to.include.members(before);
  });

  it('happens when a Secret that it names changes, and not when another does', async () => {
    const here = await running(specs.external);
    const template = (): unknown => specOf(here, 'Deployment', 'home-api').template;
    const before = template();
    here.kube.put(secret('stranger', { uri: 'x' }));
    await here.settle();
    expect(template()).to.deep.equal(before);
    here.kube.put(secret('database', { uri: `postgres://u:${CANARY}-new@db.other:6432/foyer` }));
    await here.settle();
    expect(template()).not.to.deep.equal(before);
  });

  it('happens when a key of the ring is rotated, to the readers of the ring and to no store', async () => {
    const ring = { serverId: '0193f3a0-0000-7000-8000-00000000000a', cursor: 'stays' };
    const put = (...kids: string[]): KubeObject =>
      secret('home-keys', { 'keys.json': JSON.stringify({ ...ring, signing: kids.map((kid) => ({ kid })) }) });
    const here = world();
    const made = put('old');
    here.kube.put({
      ...made,
      metadata: { ...made.metadata, labels: { 'app.kubernetes.io/managed-by': 'foyer-operator' } },
    });
    await here.settle();
    const templates = (kind: string): unknown[] => here.names(kind).map((name) => specOf(here, kind, name).template);
    const before = { stores: templates('StatefulSet'), api: specOf(here, 'Deployment', 'home-api').template };
    const live = here.kube.get('Secret', 'media', 'home-keys') as KubeObject;
    here.kube.put({ ...live, data: put('new', 'old').data });
    await here.settle();
    expect(texts(here, 'home-keys')['keys.json']).to.contain('new');
    expect(specOf(here, 'Deployment', 'home-api').template).not.to.deep.equal(before.api);
    expect(templates('StatefulSet')).to.have.length(3).and.to.deep.equal(before.stores);
    const running = specOf(here, 'Deployment', 'home-api').template;
    here.kube.put({ ...live, data: secret('home-keys', { 'keys.json': '{ "signing": [' }).data });
    await here.settle();
    expect(here.condition('SettingsValid')).to.equal('False SecretInvalid');
    expect(specOf(here, 'Deployment', 'home-api').template, 'no pod could start with it').to.deep.equal(running);
  });
});
