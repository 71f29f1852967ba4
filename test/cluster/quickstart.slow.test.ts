// The README's two applies on a bare cluster, as a newcomer would run them: up to a film that plays, and the removal.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { GROUP_VERSION, type KubeObject } from '#operator/runtime/kube.ts';
import type { LibraryStatus } from '#operator/schemas/library.ts';
import { png } from '#support/pictures.ts';
import { temporaryFolder } from '#support/stores.ts';
import { fixtures } from '../../hack/fixtures/index.ts';
import { play, spanOf } from '../real/frames.ts';
import { images, node, UP_MS } from './support/cluster.ts';
import { fillClaim, Home, INSTALL, inNamespace, READY_MS, SAMPLE, withBuiltImages } from './support/home.ts';
import { Plugin } from './support/plugin.ts';
import { runPod } from './support/pods.ts';
import { until } from './support/until.ts';

const NAMESPACE = 'foyer';
/** Objects that are deleted with the server. */
const KINDS = [
  ...['deployments.apps', 'statefulsets.apps', 'jobs.batch', 'services', 'serviceaccounts', 'configmaps', 'secrets'],
  ...['networkpolicies.networking.k8s.io', 'poddisruptionbudgets.policy', 'pods'],
];

describe('the quickstart on a bare cluster', function () {
  this.timeout(READY_MS + 60_000);
  let home: Home;
  let film = '';
  let clip = '';
  /** Values of Secrets that were made, that stand nowhere else. */
  let canaries: string[] = [];

  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await home?.printState();
  });
  before(async function () {
    this.timeout(UP_MS);
    const cluster = await node();
    await images('product', 'postgres', 'redis', 'minio');
    const { real } = await fixtures();
    [film, clip] = [`${real}/video/bikes.mp4`, `${real}/video/bigbuckbunny.mp4`];
    home = new Home(cluster, NAMESPACE);
    await cluster.kubectl.run(['delete', 'namespace', NAMESPACE, '--ignore-not-found']);
    const kinds = ['mediaservers', 'libraries', 'tunerdevices'].map((plural) => `crd/${plural}.foyer.media`);
    await cluster.kubectl.run(['delete', ...kinds, '--ignore-not-found', '--timeout=60s']); // of tests before
  });
  after(() => home?.kubectl.deleteNamespace(NAMESPACE));

  const list = (kind: string): Promise<KubeObject[]> => home.kubectl.list<KubeObject>(kind, NAMESPACE);

  it('is Ready in under three minutes after two applies', async () => {
    const { kubectl } = home;
    await kubectl.run(['apply', '--server-side', '-f', '-'], withBuiltImages(readFileSync(INSTALL, 'utf8')));
    const [claim] = inNamespace(SAMPLE, NAMESPACE);
    const films = { 'Bikes (2016)/Bikes (2016).mp4': film, 'Big Buck Bunny (2008)/Big Buck Bunny (2008).mp4': clip };
    if (claim) await fillClaim(kubectl, claim, films);
    await kubectl.run(['apply', '-f', SAMPLE]);
    await kubectl.wait(home.named('mediaserver', 'home'), 'condition=Ready', READY_MS / 1000);
    expect(await home.condition('Ready')).to.equal('True AllReady');
  });

  it('warned of nothing while it started', async () => {
    interface Reported extends KubeObject {
      type: string;
      reason: string;
      message: string;
      involvedObject: { apiVersion: string };
    }
    const events = await home.kubectl.list<Reported>('events', NAMESPACE);
    const ours = events.filter(({ involvedObject }) => involvedObject.apiVersion === GROUP_VERSION);
    expect(ours.length).to.be.greaterThan(0);
    const warnings = ours.filter(({ type }) => type === 'Warning');
    expect(warnings.map(({ reason, message }) => `${reason} ${message}`)).to.deep.equal([]);
  });

  it('starts each store once and migrates in one go', async () => {
    const sets = await list('statefulsets.apps');
    expect(sets.map(({ metadata }) => [metadata.name, metadata.generation])).to.deep.equal([
      ['home-objects', 1],
      ['home-postgres', 1],
      ['home-redis', 1],
    ]);
    const migrations = await until('the contract Job', async () => {
      const jobs = (await list('jobs.batch')).filter(({ metadata }) => metadata.name.includes('-migrate-'));
      return jobs.length === 2 && jobs.every(({ status }) => (status as { succeeded?: number }).succeeded) && jobs;
    });
    expect(migrations.map(({ status }) => (status as { failed?: number }).failed ?? 0)).to.deep.equal([0, 0]);
  });

  it('counts the films of the claim in the status of the Library', async () => {
    const counted = await until('two films', async () => {
      const found = await home.kubectl.find<{ status?: LibraryStatus }>(home.named('library', 'films'));
      const isOver = found?.status?.lastScan?.result === 'completed';
      return isOver && found.status?.items === 2 && found.status;
    });
    expect(counted.conditions?.map(({ type, status }) => `${type} ${status}`)).to.include.members([
      ...['Ready True', 'Synced True', 'FoldersAvailable True', 'Scanned True'],
    ]);
    expect(counted.sizeBytes).to.be.greaterThan(1_000_000);
    const { startedAt = '', finishedAt = '' } = counted.lastScan ?? {};
    expect(Date.parse(startedAt)).to.be.greaterThan(0).and.be.at.most(Date.parse(finishedAt));
  });

  it('gets its owner by the code of the claim Secret, which goes then', async () => {
    const named = (await home.status()).claim?.secretName;
    expect(named).to.equal('home-claim');
    canaries = await secretValues();
    await home.own();
    await until('no claim', async () => !(await home.kubectl.find(home.named('secret', 'home-claim'))));
    expect((await home.status()).claim).to.equal(undefined);
  });

  it('is looked after by kubectl-mediaserver', async () => {
    const { cluster } = home;
    const plugin = new Plugin(cluster.kubeconfig, NAMESPACE);
    expect((await plugin.attempt('status')).out).to.match(/^home +True /m);
    const { code, out } = await plugin.attempt('doctor');
    expect(out).to.include('operator foyer-operator: 1 ready').and.not.include('FAULT');
    expect(code).to.equal(0);
    expect((await plugin.attempt('logs', 'home', 'api', '--tail', '5')).out).to.match(/^home-api-\S+ \{/m);
    const live = (url: string) => fetch(`${url}/api/v1/server/live`).then(({ status }) => status);
    expect(await plugin.opened(live)).to.equal(200);
    const file = join(temporaryFolder('bundle'), 'bundle.tar.gz');
    expect(await plugin.attempt('support-bundle', '-o', file)).to.include({ code: 0 });
    const bundle = gunzipSync(readFileSync(file)).toString('latin1');
    for (const name of [
      'resources.yaml',
      'events.yaml',
      'logs/home-api-',
      'logs/home-postgres-0/',
      'logs/foyer-operator-',
    ])
      expect(bundle).to.include(`support-bundle/${name}`);
    expect(canaries.filter((canary) => bundle.includes(canary))).to.deep.equal([]);
  });

  it('reports the fault of an argument in a line', async () => {
    const plugin = new Plugin(home.cluster.kubeconfig, NAMESPACE);
    const refused: [string[], RegExp][] = [
      [['logs', 'nobody'], /^no MediaServer nobody: namespace foyer has home\n$/],
      [['logs', 'home', 'nothing'], /^no pods of home nothing\n$/],
      [['logs', 'home', 'api', '--tail', 'many'], /not a number/],
      [['open', '--port', '70000'], /not a number/],
      [['status', '-o', 'xml'], /Allowed choices/],
      [['support-bundle', '-o', '/nowhere/at/all'], /nowhere/],
      [['heal'], /unknown command/],
    ];
    for (const [words, expected] of refused) {
      const { code, err } = await plugin.attempt(...words);
      expect(err, words.join(' ')).to.match(expected).and.not.include('    at ');
      expect(code, words.join(' ')).to.equal(1);
    }
    const elsewhere = await new Plugin(home.cluster.kubeconfig, 'nowhere').attempt('open');
    expect(elsewhere).to.include({ code: 1, err: 'name one: namespace nowhere has none\n' });
  });

  /** In a pod, through the Service by its name: the output of ffmpeg for the film. */
  async function playInside(name: string, path: string): Promise<string> {
    const [image = ''] = await images('product');
    const lines = Object.entries(home.headers).map(([key, value]) => `${key}: ${value}\r\n`);
    const url = `http://home-api.${NAMESPACE}.svc:8080${path}`;
    const command = ['ffmpeg', '-nostdin', '-v', 'error', '-headers', lines.join(''), '-i', url];
    const out = ['-map', '0:v:0', '-vf', 'scale=64:36', '-f', 'framecrc', '-'];
    return runPod(home.kubectl, { name, namespace: NAMESPACE, image, command: [...command, ...out] });
  }

  const frames = (text: string): number => text.split('\n').filter((line) => /^\d/.test(line)).length;

  it('plays a film to its end inside the cluster: by Range as it is, and encoded', async () => {
    const items = await home.films(2);
    const id = items.find(({ title }) => title === 'Bikes')?.id ?? '';
    const source = (await play({ url: film })).video;
    expect(spanOf(source).count).to.be.greaterThan(100);
    for (const [name, body] of [
      ['direct', { client: { direct: [{ containers: ['mp4'], video: [{ codec: 'h264' }] }] } }],
      ['encoded', { client: { builtIn: 'hls' }, allow: { directPlay: false, directStream: false } }],
    ] as const) {
      const started = await home.owner.startPlayback({ params: { id }, body: { startMs: 0, ...body } });
      expect(started.status, JSON.stringify(started.body)).to.equal(201);
      const { session } = started.body;
      expect(session.decision.method).to.equal(name === 'direct' ? 'direct_play' : 'transcode');
      expect(frames(await playInside(name, session.url)), name).to.equal(source.length);
      await home.owner.endPlaybackSession({ params: { id: session.id } });
    }
  });

  it('opens an uploaded picture in the parser pod', async () => {
    await until('ParserReady', async () => (await home.condition('ParserReady')) === 'True Running');
    const { profile } = (await home.owner.getMe()).body;
    const given = { params: { id: profile.id }, body: await png(900, 300), headers: { 'content-type': 'image/png' } };
    const made = await home.owner.setProfileAvatar(given);
    expect(made.status, JSON.stringify(made.body)).to.equal(200);
    expect(made.body.avatar).to.include({ width: 512, height: 512 });
    await home.kubectl.run(['-n', NAMESPACE, 'scale', 'deployment/home-parser', '--replicas=0']);
    await until('its pod put back', async () => {
      const found = await home.kubectl.find<{ spec?: { replicas?: number } }>(home.named('deployment', 'home-parser'));
      return found?.spec?.replicas === 1;
    });
  });

  it('reveals no secret in logs, statuses and Events', async () => {
    expect(canaries.length).to.be.greaterThan(8);
    const published = await everythingPublished();
    expect(published).to.include('"conditions"').and.include('listening');
    expect(canaries.filter((canary) => published.includes(canary))).to.deep.equal([]);
  });

  it('leaves the data and the media when it is deleted, and nothing else', async () => {
    const { kubectl } = home;
    await kubectl.run(['delete', '-f', '-'], deletable());
    const others = async (): Promise<string[]> => {
      const all = await Promise.all(KINDS.map((kind) => list(kind)));
      return all
        .flat()
        .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/instance'] === 'home')
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
        .sort();
    };
    await until('an end', async () => (await others()).length <= 3);
    expect(await others(), 'they open the data that stays').to.deep.equal([
      ...['Secret home-keys', 'Secret home-objects', 'Secret home-postgres'],
    ]);
    const claims = (await list('persistentvolumeclaims')).map(({ metadata }) => metadata.name).sort();
    expect(claims).to.deep.equal(['data-home-objects-0', 'data-home-postgres-0', 'films']);
    const [image = ''] = await images('product');
    const count = "console.log(require('node:fs').readdirSync('/media').length)";
    const options = { name: 'look', namespace: NAMESPACE, image, args: ['-e', count], mounts: { '/media': 'films' } };
    expect((await runPod(kubectl, options)).trim()).to.equal('2');
  });

  /** The server and its library: objects that a person deletes who keeps the media. */
  const deletable = (): string =>
    inNamespace(SAMPLE, NAMESPACE)
      .filter(({ apiVersion }) => apiVersion === GROUP_VERSION)
      .map((object) => stringify(object))
      .join('---\n');

  /** Long random values of every Secret of the server. */
  async function secretValues(): Promise<string[]> {
    const secrets = await list('secrets');
    const texts = secrets.flatMap(({ data }) =>
      Object.values((data ?? {}) as Record<string, string>).map((text) => Buffer.from(text, 'base64').toString()),
    );
    const inner = texts.flatMap((text) => (text.startsWith('{') ? leaves(JSON.parse(text)) : [text]));
    const known = inner.filter((text) => text.length >= 20 && !text.startsWith('http'));
    return [...new Set(known)].filter((text) => !PUBLIC.test(text));
  }

  async function everythingPublished(): Promise<string> {
    const pods = (await list('pods')).map(({ metadata }) => metadata.name);
    const logs = await Promise.all(
      pods.map(async (name) => (await home.kubectl.attempt(['logs', name, '-n', NAMESPACE, '--all-containers'])).out),
    );
    const kinds = ['events', 'mediaservers', 'libraries', 'pods', 'jobs.batch', 'configmaps', 'deployments.apps'];
    const objects = await Promise.all([...kinds, 'statefulsets.apps'].map((kind) => list(kind)));
    return [...logs, JSON.stringify(objects.flat())].join('\n');
  }
});

/** Ids, which are public. */
const PUBLIC = /^[0-9a-f]{8}-[0-9a-f]{4}-/;

function leaves(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [];
}
