// A campaign of changes in the manner of Acto: each is applied, checked from all sides once the resource has come to
// rest, and reverted, upon which all must be as before. FOYER_MUTATIONS is their number, FOYER_SEED another sequence,
// FOYER_MUTATION only those whose name has it, FOYER_PART=2/3 the second third of them; 1/10 by default, and 1/1 all,
// in half an hour.
import { expect } from 'chai';
import { libraryController } from '#operator/library/controller.ts';
import { differences, libraryBody } from '#operator/library/library.ts';
import type { ServerLibrary } from '#operator/library/server-library.ts';
import { mediaServerController } from '#operator/media-server/controller.ts';
import { mediaRoots } from '#operator/media-server/desired/media.ts';
import { hasStatus } from '#operator/runtime/faults.ts';
import { type Controller, GROUP_VERSION, type KubeObject } from '#operator/runtime/kube.ts';
import { LibrarySpec } from '#operator/schemas/library.ts';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { serverClient } from '#operator/server-api/server-client.ts';
import { Servers } from '#operator/server-api/servers.ts';
import { tunerDeviceController } from '#operator/tuner-device/controller.ts';
import { ServerTuners } from '#operator/tuner-device/server-tuners.ts';
import { fromSchema } from './mutations/from-schema.ts';
import { changed, type Mutation, type Spec } from './mutations/mutation.ts';
import { conditionOf, inconsistencies, isTrue, observed, unexpected, unlikeDesired } from './mutations/oracles.ts';
import { randomFrom, shuffled } from './mutations/random.ts';
import { semantic } from './mutations/semantic.ts';
import { Watched } from './mutations/watched.ts';
import { UP_MS } from './support/cluster.ts';
import { differencesOf, whateverSecrets } from './support/end-state.ts';
import { kstatusFaults } from './support/kstatus.ts';
import type { OperatorProcess } from './support/operator-process.ts';
import { plurals, type Resource } from './support/specs.ts';
import { libraryOnStage, SERVER_ID, Stage, serverOnStage, tunerOnStage } from './support/stage.ts';
import { until } from './support/until.ts';

type Kind = Mutation['kind'];
const KINDS: readonly Kind[] = ['MediaServer', 'Library', 'TunerDevice'];

const SEED = Number(process.env.FOYER_SEED ?? 1);
const COUNT = Number(process.env.FOYER_MUTATIONS ?? 420);
const ONLY = process.env.FOYER_MUTATION;
const [PART = 1, PARTS = 1] = (process.env.FOYER_PART ?? '1/10').split('/').map(Number);
const SHARE: Record<Kind, number> = { MediaServer: 0.42, Library: 0.3, TunerDevice: 0.28 };
const MISOPERATIONS = 0.34;
const LANES: Record<Kind, number> = { MediaServer: 6, Library: 8, TunerDevice: 6 };
/** A resource that did not change for so long is at rest; one that reports progress gets longer. */
const QUIET_MS = 1500;
const STUCK_MS = 6000;
const SETTLE_MS = 150_000;
/** The state of a resource before any change. */
const WELL = { misoperation: false, expected: {} };
const BACK_MS = 60_000;

/** Fields that this version keeps and does nothing with, and those that take effect where there is something to have it on. */
const WITHOUT_EFFECT =
  /^(network\.allow|network = |monitoring(\.| = )|subtitles|deletionPolicy|api\.autoscaling|transcode|settings = |guide|timeshift|channels)/;

/** The defaults of Kubernetes. */
const AS_DEFAULT = /^imagePullPolicy = "IfNotPresent"/;

/** Mutations that remove a generated password or claim code for good: with the change reverted there is a new one. */
const MADE_ANEW = /^(an owner|an external Redis|everything external)/;

const BASES: Record<Kind, (index: number) => Resource> = {
  MediaServer: (index) => serverOnStage(`m${index}`, { api: { replicas: 1 } }),
  Library: (index) => {
    const type = ['movies', 'shows', 'videos', 'music', 'photos', 'books', 'comics', 'games'][index] ?? 'movies';
    return libraryOnStage(`l${index}`, 'base', { type, folders: [{ media: 'films', path: `/lane${index}` }] });
  },
  TunerDevice: (index) => tunerOnStage(`t${index}`, 'base'),
};

/** Written ones first, then misoperations amid another change, then changes of single fields. */
function campaign(kind: Kind): Mutation[] {
  const random = randomFrom(SEED * 31 + KINDS.indexOf(kind));
  const base = BASES[kind](0).spec;
  const generated = fromSchema(random, kind, base);
  const next = (): Mutation => generated.next().value as Mutation;
  const count = Math.round(COUNT * SHARE[kind]);
  const all = [...semantic[kind]];
  const wrong = all.filter(({ misoperation }) => misoperation);
  const more = Math.max(0, Math.round(count * MISOPERATIONS) - wrong.length);
  for (const one of shuffled(random, [...wrong, ...wrong]).slice(0, more)) {
    const other = apart(next, one);
    all.push({ ...one, name: `${one.name}, amid ${other.name}`, changes: [...other.changes, ...one.changes] });
  }
  while (all.length < count) all.push(next());
  const chosen = ONLY === undefined ? all : all.filter(({ name }) => name.includes(ONLY));
  return shuffled(random, chosen);
}

const inPart = (all: Mutation[]): Mutation[] => all.filter((_, index) => index % PARTS === PART - 1);

/** A change of another part. */
function apart(next: () => Mutation, { changes }: Mutation): Mutation {
  const taken = new Set(changes.map(({ at }) => at[0]));
  let other = next();
  while (other.changes.some(({ at }) => taken.has(at[0]) || at[0] === 'scan' || at[0] === 'ingress')) other = next();
  return other;
}

describe(`${COUNT} changes of resources, part ${PART} of ${PARTS}`, function () {
  this.timeout(40 * 60_000);
  let stage: Stage;
  let namespace = '';
  let operator: OperatorProcess;
  let watched: Watched;
  let controllers: Record<Kind, Controller>;
  const alarms: string[] = [];
  const made: Record<string, number> = {};

  /** Printed at once where a terminal is attached. */
  const raise = (faults: readonly string[]): void => {
    alarms.push(...faults);
    if (process.env.FOYER_LOG_LEVEL) process.stderr.write(faults.map((fault) => `${fault}\n`).join(''));
  };

  const pathOf = (kind: string, name: string) =>
    `/apis/${GROUP_VERSION}/namespaces/${namespace}/${plurals[kind]}/${name}`;
  const create = ({ kind, metadata: { name }, spec }: Resource): Promise<KubeObject> =>
    stage.rest.write<KubeObject>({
      method: 'POST',
      path: pathOf(kind, '').replace(/\/$/, ''),
      body: { apiVersion: GROUP_VERSION, kind, metadata: { name, namespace }, spec },
    });
  /** The whole spec is this now, as `kubectl replace` makes it. */
  const send = (kind: string, name: string, spec: Spec): Promise<KubeObject> =>
    stage.rest.write<KubeObject>({
      method: 'PATCH',
      path: pathOf(kind, name),
      query: { fieldValidation: 'Strict' },
      body: [{ op: 'replace', path: '/spec', value: spec }],
      contentType: 'application/json-patch+json',
    });

  /** The resource once neither it nor anything made for it moves any more. */
  async function rest(
    { kind, name, misoperation, expected }: Pick<Mutation, 'kind' | 'name' | 'misoperation' | 'expected'>,
    generation: number,
  ): Promise<KubeObject> {
    const still = (object: KubeObject): boolean => {
      if ((object.metadata.generation ?? 0) < generation || !observed(object)) return false;
      const underWay = isTrue(object, 'Reconciling') || isTrue(object, 'Progressing');
      const unwell = !isTrue(object, 'Ready') || isTrue(object, 'Degraded');
      return watched.quietMs(kind, name) > (underWay ? STUCK_MS : unwell ? 2 * QUIET_MS : QUIET_MS);
    };
    const refused = (object: KubeObject): boolean => conditionOf(object, 'Stalled')?.reason === 'Refused';
    let drifts: string[] = [];
    const atRest = async (): Promise<KubeObject | false> => {
      const object = watched.get(kind, name);
      // It may reach the expected state slowly: the end state counts.
      if (!still(object) || unexpected(object, expected, misoperation).length > 0) return false;
      // A change that the API server refuses stays desired; a Library has no children.
      drifts = kind === 'Library' || refused(object) ? [] : await unlikeDesired(watched, controllers[kind], name);
      return drifts.length === 0 && object;
    };
    try {
      return await until('rest', atRest, SETTLE_MS);
    } catch (error) {
      const object = watched.get(kind, name);
      if (still(object) && drifts.length === 0) return object;
      const snapshot = JSON.stringify([object.metadata.generation, object.status]);
      throw new Error(`${(error as Error).message}: ${drifts.join('; ')}: ${snapshot}`);
    }
  }

  /** Where the server holds another value than the Library declares. */
  async function unlikeServer({ metadata, spec, status }: KubeObject): Promise<string[]> {
    const answer = await library((status as { libraryId?: string }).libraryId);
    const roots = new Map(
      mediaRoots(MediaServerSpec.parse(BASES.MediaServer(0).spec), SERVER_ID).map(({ name, id }) => [name, id]),
    );
    const wanted = { name: metadata.name, annotations: {}, spec: LibrarySpec.parse(spec) };
    const body = libraryBody(wanted, { mediaId: (name) => roots.get(name) ?? '' });
    return Object.keys(differences(body, answer)).map((key) => `the server has another ${key}`);
  }

  /** Sent again where the machine was too busy to answer in time. */
  function library(id = ''): Promise<ServerLibrary> {
    const serverApi = serverClient(stage.api.url, stage.api.operatorKey);
    return until('the library', async () => (await serverApi('GET', `/libraries/${id}`)).body as ServerLibrary);
  }

  async function state(kind: Kind, name: string): Promise<Record<string, unknown>> {
    const object = watched.get(kind, name);
    const held = watched.state(object);
    if (kind !== 'Library') return held;
    const {
      settings,
      access,
      managedFields,
      name: title,
      folders,
    } = await library((object.status as { libraryId?: string }).libraryId);
    const at = folders.map(({ storageId, path }) => `${storageId}/${path}`).sort();
    return { ...held, server: { settings, access, managedFields, title, folders: at } };
  }

  /** Alarms of a resource at rest, after any change. */
  async function look(kind: Kind, name: string): Promise<string[]> {
    const object = watched.get(kind, name);
    const faults = inconsistencies(object);
    const holds = kind !== 'Library' || conditionOf(object, 'Synced')?.status !== 'True';
    return holds ? faults : [...faults, ...(await unlikeServer(object))];
  }

  async function refusedChange(mutation: Mutation, name: string, spec: Spec): Promise<string[]> {
    const before = watched.get(mutation.kind, name).metadata.generation;
    try {
      await send(mutation.kind, name, spec);
    } catch (error) {
      if (!hasStatus(error, 400, 422, 500)) throw error;
      const { message } = error as Error;
      const after = watched.get(mutation.kind, name).metadata.generation;
      return [
        ...(mutation.expected.refused?.test(message) ? [] : [`refused with ${message}`]),
        ...(after === before ? [] : ['changed all the same']),
      ];
    }
    return ['was not refused'];
  }

  async function tried(mutation: Mutation, name: string, base: Spec): Promise<string[]> {
    const { kind, expected, misoperation } = mutation;
    const spec = changed(base, mutation.changes);
    if (expected.refused) return refusedChange(mutation, name, spec);
    const before = await state(kind, name);
    const sent = await send(kind, name, spec);
    const object = await rest({ ...mutation, name }, sent.metadata.generation ?? 0);
    const faults = [...unexpected(object, expected, misoperation), ...(await look(kind, name))];
    const during = await state(kind, name);
    const inert = [WITHOUT_EFFECT, AS_DEFAULT].some((names) => names.test(mutation.name));
    if (JSON.stringify(during) === JSON.stringify(before) && !inert) faults.push('has no effect');
    const back = await send(kind, name, base);
    await rest({ kind, name, ...WELL }, back.metadata.generation ?? 0);
    const seen = MADE_ANEW.test(mutation.name) ? whateverSecrets : (one: Record<string, unknown>) => one;
    const same = async () => JSON.stringify(seen(await state(kind, name))) === JSON.stringify(seen(before));
    await until('it is as before', same, BACK_MS).catch(() => undefined);
    const after = await state(kind, name);
    const left = differencesOf(seen(after), seen(before));
    return [
      ...faults,
      ...(await look(kind, name)).map((fault) => `taken back: ${fault}`),
      ...left.map((what) => `taken back, it is not as before: ${what}`),
    ];
  }

  before(async function () {
    this.timeout(UP_MS);
    stage = await Stage.open();
    const servers = ['base', ...Array.from({ length: LANES.MediaServer }, (_, index) => `m${index}`)];
    namespace = await stage.namespace('mut', servers);
    for (const path of ['a/b', ...Array.from({ length: LANES.Library }, (_, index) => `lane${index}/a/b`)])
      for (const media of ['films', 'recordings']) stage.folder(media, path);
    await stage.cluster.kubectl.apply(...furniture(namespace));
    operator = await stage.operator(namespace);
    const lanes = KINDS.flatMap((kind) => Array.from({ length: LANES[kind] }, (_, index) => BASES[kind](index)));
    const taken = libraryOnStage('taken', 'base', { type: 'courses' });
    for (const one of [serverOnStage('base', { api: { replicas: 1 } }), taken, ...lanes]) await create(one);
    const images = {
      foyer: 'foyer:1.0.0',
      postgres: 'foyer-postgres:18',
      redis: 'foyer-redis:7',
      minio: 'foyer-minio:2026.2.12',
    };
    const { api, metrics, tuner: tunerUrl } = stage.addresses;
    const connect = ({ name }: { name: string }, key: string) => ({
      request: serverClient(api, key),
      metrics: async () => (await fetch(metrics.replace('{namespace}', namespace).replace('{name}', name))).text(),
    });
    controllers = {
      MediaServer: mediaServerController({ images, clusterNetworks: [], connect }),
      Library: libraryController(new Servers(api)),
      TunerDevice: tunerDeviceController({ images, servers: new ServerTuners(), tunerUrl }),
    };
    watched = new Watched(stage.rest, namespace, Object.values(controllers));
    await watched.start();
    for (const { kind, metadata } of lanes) {
      const isReady = () => isTrue(watched.get(kind, metadata.name), 'Ready');
      await until(`${kind} ${metadata.name} is well, so that something can be done to it`, isReady, 2 * SETTLE_MS);
      await rest({ kind: kind as Kind, name: metadata.name, ...WELL }, 1);
    }
  });

  after(async function () {
    this.timeout(180_000);
    await watched.stop();
    await stage.close();
  });

  it('reach their expected state, are reported as faults where they are some, and leave nothing behind when reverted', async () => {
    const lane = async (kind: Kind, index: number, queue: Mutation[]): Promise<void> => {
      const { metadata, spec } = BASES[kind](index);
      for (let mutation = queue.pop(); mutation; mutation = queue.pop()) {
        const { name, misoperation } = mutation;
        for (const word of [kind, misoperation ? 'wrong' : 'right']) made[word] = (made[word] ?? 0) + 1;
        const faults = await tried(mutation, metadata.name, spec).catch((error: Error) => [error.message]);
        raise(faults.map((fault) => `${kind} ${metadata.name}: ${name}: ${fault}`));
        if (faults.length > 0)
          await send(kind, metadata.name, spec)
            .then((back) => rest({ kind, name: metadata.name, ...WELL }, back.metadata.generation ?? 0))
            .catch(() => undefined);
        expect(operator.alive, `the operator died of ${name}`).to.equal(true);
      }
    };
    const work = KINDS.flatMap((kind) => {
      const queue = inPart(campaign(kind));
      return Array.from({ length: LANES[kind] }, (_, index) => lane(kind, index, queue));
    });
    await Promise.all(work);
    if (process.env.FOYER_LOG_LEVEL) process.stdout.write(`${JSON.stringify(made)}\n`);
    expect(alarms.join('\n')).to.equal('');
    const wrong = KINDS.flatMap(campaign).filter(({ misoperation }) => misoperation);
    if (ONLY === undefined) expect(wrong.length).to.be.at.least(COUNT / 3);
  });

  it('never made the operator fail, or report so', () => {
    expect(operator.alarms).to.deep.equal([]);
    const faults = operator.lines.filter(({ msg }) => msg === 'a pass failed').map(({ message = '' }) => message);
    // Reported by conditions, and tried again slower each time.
    const unexplained = faults.filter(
      (message) => !/^(422 Invalid|403 Forbidden|400 BadRequest|409 Conflict)/.test(message),
    );
    expect(unexplained).to.deep.equal([]);
  });

  it('had at every moment the state that kstatus computes', async () => {
    expect(watched.states.length).to.be.greaterThan(ONLY === undefined ? COUNT / PARTS : 1);
    expect(await kstatusFaults(watched.states)).to.deep.equal([]);
  });
});

/** Secrets and ConfigMaps that changes name: one with every key, one with none, one with invalid values. */
function furniture(namespace: string): object[] {
  const secret = (name: string, stringData: Record<string, string>) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } },
    stringData,
  });
  const stores = {
    postgres: 'postgres://a:b@db.example:5432/c',
    redis: 'redis://cache.example:6379',
    endpoint: 'https://s3.example',
  };
  const mail = {
    host: 'mail.example',
    from: 'foyer@mail.example',
    username: 'owner',
    password: 'correct horse battery',
  };
  return [
    secret('spare', {
      ...stores,
      ...mail,
      accessKey: 'a',
      secretKey: 'b',
      key: 'value',
      uri: 'x',
      url: 'http://tv.example/other.m3u',
    }),
    secret('empty', {}),
    secret('odd', { uri: 'nonsense', endpoint: 'nonsense', accessKey: 'a', secretKey: 'b' }),
  ];
}
