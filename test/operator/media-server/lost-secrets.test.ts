import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { MediaServerStatus } from '#operator/schemas/media-server.ts';
import { managed, named, running, specs, texts, world } from './specs.ts';
import { MemoryKube, mediaServer, secret, World } from './support.ts';

const claimOf = (store: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: `data-home-${store}-0`, namespace: 'media' },
});

/** At rest, with the volumes that a cluster would have made. */
async function withData(spec = managed): Promise<World> {
  const here = world(spec);
  here.kube.put(claimOf('postgres'), claimOf('objects'));
  for (const store of ['postgres', 'objects']) here.kube.drop('PersistentVolumeClaim', `data-home-${store}-0`);
  await here.settle();
  here.kube.put(claimOf('postgres'), claimOf('objects'));
  await here.settle();
  return here;
}

/** The annotation that gives Secrets up, of the server with this uid. */
const giveUp = (uid: string, ...names: string[]) => ({
  'foyer.media/replace-secrets': names.map((name) => `${name}@${uid}`).join(', '),
});
const uidOf = (here: World): string => here.server.metadata.uid ?? '';

const templates = (here: World): unknown[] =>
  ['Deployment', 'StatefulSet'].flatMap((kind) =>
    here.names(kind).map((name) => [name, here.kube.get(kind, 'media', name)?.spec]),
  );

const LOST: [name: string, type: string, loss: RegExp, copy: string][] = [
  ['home-keys', 'SettingsValid', /all users are signed out/, 'cat /etc/foyer/keys/keys.json'],
  ['home-postgres', 'DatabaseReady', /only the password/, 'echo $POSTGRES_PASSWORD'],
  ['home-objects', 'ObjectsReady', /only the keys/, 'echo $MINIO_ROOT_PASSWORD'],
];

describe('a Secret that opened data', () => {
  for (const [name, type, loss, copy] of LOST) {
    it(`is not generated again when it is deleted: ${name}`, async () => {
      const here = await withData();
      const [before, kinds] = [templates(here), here.names('Secret')];
      here.kube.drop('Secret', name);
      here.change({ version: '2.0.0', workers: { resources: { requests: { cpu: '77m' } } } });
      await here.settle();
      expect(here.kube.get('Secret', 'media', name)).to.equal(undefined);
      expect(here.condition(type)).to.equal('False SecretLost');
      expect(here.condition('Stalled')).to.equal('True SecretLost');
      expect(here.condition('Degraded')).to.equal('True SecretLost');
      expect(here.condition('Ready'), 'what runs goes on').to.equal('True AllReady');
      expect(here.message(type)).to.match(loss).and.to.contain(`Secret ${name} is missing`).and.to.contain(copy);
      expect(here.message(type)).to.contain(`foyer.media/replace-secrets: ${name}@${uidOf(here)}. `);
      const warnings = here.kube.events.filter(({ reason }) => reason === 'SecretLost');
      expect(warnings.map(({ message }) => message).join()).to.contain(`Secret ${name} is missing`);
      expect(templates(here), 'nothing rolls').to.deep.equal(before);
      expect(here.names('Secret')).to.deep.equal(kinds.filter((other) => other !== name));
      MediaServerStatus.parse(here.status);
    });

    it(`is used when it is restored, also by hand, and then the waiting roll-out starts: ${name}`, async () => {
      const here = await withData();
      const values = texts(here, name);
      here.kube.drop('Secret', name);
      await here.settle();
      here.kube.put(secret(name, values));
      await here.settle();
      expect(texts(here, name)).to.deep.equal(values);
      expect(here.condition('Stalled')).to.equal('absent');
      expect(here.condition(type)).to.match(/^True/);
      expect(here.kube.get('Secret', 'media', name)?.metadata.annotations).to.include({ 'foyer.media/keep': 'true' });
    });

    it(`is generated again where the annotation permits it, and again only after that was removed: ${name}`, async () => {
      const here = await withData();
      const before = texts(here, name);
      here.kube.drop('Secret', name);
      await here.settle();
      here.annotate(giveUp(uidOf(here), 'other', name));
      await here.settle();
      const made = texts(here, name);
      expect(made).not.to.deep.equal(before);
      expect(Object.keys(made).sort()).to.deep.equal(Object.keys(before).sort());
      expect(here.condition('Stalled')).to.equal('absent');
      here.kube.drop('Secret', name);
      await here.settle();
      expect(here.condition(type), 'the annotation was answered').to.equal('False SecretLost');
      expect(here.message(type)).to.contain('remove the annotation foyer.media/replace-secrets, which was used before');
      here.annotate({});
      await here.settle();
      expect(here.condition(type)).to.equal('False SecretLost');
      expect(here.status.replacedSecrets).to.equal(undefined);
      expect(here.message(type)).to.contain(`set the annotation foyer.media/replace-secrets: ${name}@${uidOf(here)}. `);
      here.annotate(giveUp(uidOf(here), name));
      await here.settle();
      expect(here.kube.get('Secret', 'media', name)).not.to.equal(undefined);
      expect(here.condition('Stalled')).to.equal('absent');
    });
  }

  it('is not given up a second time when the annotation gives up another one, too', async () => {
    const here = await withData();
    here.kube.drop('Secret', 'home-postgres');
    here.annotate(giveUp(uidOf(here), 'home-postgres'));
    await here.settle();
    expect(here.condition('Stalled')).to.equal('absent');
    here.kube.drop('Secret', 'home-postgres');
    here.kube.drop('Secret', 'home-objects');
    here.annotate(giveUp(uidOf(here), 'home-postgres', 'home-objects'));
    await here.settle();
    expect(here.condition('ObjectsReady')).to.match(/^True/);
    expect(here.condition('DatabaseReady')).to.equal('False SecretLost');
  });

  it('is not given up by an annotation that was set before the loss', async () => {
    const here = await withData();
    here.annotate(giveUp(uidOf(here), 'home-keys'));
    await here.settle();
    here.kube.drop('Secret', 'home-keys');
    await here.settle();
    expect(here.condition('SettingsValid')).to.equal('False SecretLost');
  });

  for (const [what, annotation] of Object.entries({
    'without a uid': { 'foyer.media/replace-secrets': 'home-keys home-postgres home-objects' },
    'with the uid of another server': giveUp('another', 'home-keys', 'home-postgres', 'home-objects'),
  }))
    it(`is not given up by an annotation from a backup or from Git: ${what}`, async () => {
      const kube = new MemoryKube().put(claimOf('postgres'), claimOf('objects'), ...named);
      const here = new World(mediaServer(managed, annotation), kube);
      await here.settle();
      for (const [name, type] of LOST) {
        expect(here.kube.get('Secret', 'media', name), name).to.equal(undefined);
        expect(here.condition(type)).to.equal('False SecretLost');
      }
    });

  it('is waited for where volumes are restored before it, and made where nothing is there', async () => {
    const kube = new MemoryKube().put(claimOf('postgres'), claimOf('objects'), ...named);
    const here = new World(mediaServer(managed), kube);
    await here.settle();
    for (const [name, type] of LOST) {
      expect(here.kube.get('Secret', 'media', name), name).to.equal(undefined);
      expect(here.condition(type)).to.equal('False SecretLost');
    }
    expect(here.names('StatefulSet'), 'no store starts with another password').to.deep.equal([]);
    here.kube.drop('PersistentVolumeClaim', 'data-home-postgres-0');
    here.kube.drop('PersistentVolumeClaim', 'data-home-objects-0');
    await here.settle();
    expect(here.condition('Ready')).to.equal('True AllReady');
  });

  it('is the key ring also where the stores are those of others', async () => {
    const here = await running(specs.external);
    const { serverId } = here.status;
    expect(serverId).to.equal('0193f3a0-0000-7000-8000-00000000000a');
    here.kube.drop('Secret', 'home-keys');
    here.kube.drop('ConfigMap', 'home-release');
    for (const name of here.names('Deployment')) here.kube.drop('Deployment', name);
    await here.settle();
    expect(here.condition('SettingsValid')).to.equal('False SecretLost');
    expect(here.status.serverId).to.equal(serverId);
  });

  it('is not the password of Redis, whose data can be lost', async () => {
    const here = await withData({ ...managed, redis: { managed: { storage: '1Gi' } } });
    const before = texts(here, 'home-redis');
    here.kube.drop('Secret', 'home-redis');
    await here.settle();
    expect(texts(here, 'home-redis').password).not.to.equal(before.password);
    expect(here.condition('Ready')).to.equal('True AllReady');
  });
});

describe('a Secret of a managed store', () => {
  const rolled = (here: World): string[] =>
    here.names('StatefulSet').map((name) => JSON.stringify(here.kube.get('StatefulSet', 'media', name)?.spec));

  it('leads to the store of its own namespace, wherever it is restored to', async () => {
    const here = await running();
    expect(texts(here, 'home-postgres').uri).to.match(/^postgres:\/\/foyer:[^@]+@home-postgres:5432\/foyer$/);
    expect(texts(here, 'home-redis').uri).to.match(/@home-redis:6379$/);
    expect(texts(here, 'home-objects').endpoint).to.equal('http://home-objects:9000');
  });

  it('takes another password, which the store and those that use it get', async () => {
    const here = await withData();
    const before = rolled(here);
    const [template] = templates(here);
    const values = {
      ...texts(here, 'home-postgres'),
      password: 'new',
      uri: 'postgres://foyer:new@home-postgres.media.svc:5432/foyer',
    };
    here.kube.put({
      ...(here.kube.get('Secret', 'media', 'home-postgres') as KubeObject),
      data: secret('x', values).data,
    });
    await here.settle();
    expect(texts(here, 'home-postgres')).to.deep.equal(values);
    expect(rolled(here)).not.to.deep.equal(before);
    expect(templates(here)[0]).not.to.deep.equal(template);
    expect(here.condition('DatabaseReady')).to.equal('True Connected');
  });

  const WRONG: [what: string, store: string, type: string, change: Record<string, string>, message: RegExp][] = [
    [
      'two passwords',
      'postgres',
      'DatabaseReady',
      { password: 'other' },
      /one password in password and another in uri/,
    ],
    [
      'a password that is not percent-encoded',
      'postgres',
      'DatabaseReady',
      { uri: 'postgres://foyer:pa%ss@home-postgres/foyer', password: 'pa%ss' },
      /a password in uri that is not percent-encoded/,
    ],
    ['no address', 'postgres', 'DatabaseReady', { uri: '' }, /has no key uri: add it/],
    [
      'another host',
      'postgres',
      'DatabaseReady',
      { uri: 'postgres://foyer:p@home-postgres.old.svc/foyer', password: 'p' },
      /has another host, home-postgres.old.svc: set home-postgres/,
    ],
    ['two passwords of Redis', 'redis', 'RedisReady', { password: 'other' }, /one password in password/],
    [
      'another object store',
      'objects',
      'ObjectsReady',
      { endpoint: 'http://home-objects.old.svc:9000' },
      /has another host/,
    ],
  ];
  for (const [what, store, type, change, message] of WRONG)
    it(`that has ${what} is reported, and no pod is restarted with it`, async () => {
      const here = await withData();
      const before = templates(here);
      const name = `home-${store}`;
      const data = secret(name, { ...texts(here, name), ...change }).data;
      here.kube.put({ ...(here.kube.get('Secret', 'media', name) as KubeObject), data });
      await here.settle();
      expect(here.condition(type)).to.equal('False SecretInvalid');
      expect(here.message(type)).to.match(message);
      expect(templates(here)).to.deep.equal(before);
    });
});
