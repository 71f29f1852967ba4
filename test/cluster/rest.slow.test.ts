// At rest nothing is written: counted in the audit log of the API server, over resyncs, relists and a second process.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import type { Request } from './support/audit.ts';
import { UP_MS } from './support/cluster.ts';
import { type OperatorProcess, operatorOf } from './support/operator-process.ts';
import type { Resource } from './support/specs.ts';
import { libraryOnStage, Stage, serverOnStage, tunerOnStage } from './support/stage.ts';
import { until } from './support/until.ts';

const MINUTES = Number(process.env.FOYER_REST_MINUTES ?? 1);
const RESYNCS = 10;
const SERVERS = Array.from({ length: 10 }, (_, index) => `home-${index}`);
const QUIET_MS = 6000;

const line = ({ verb, resource, subresource, name, code }: Request): string =>
  `${verb} ${resource}${subresource && `/${subresource}`} ${name} ${code}`;

/** A server with three libraries and a tuner. */
function household(server: string, index: number): Resource[] {
  const libraries = ['movies', 'shows', 'music'].map((type) =>
    libraryOnStage(`${server}-${type}`, server, {
      type,
      folders: type === 'music' ? [] : [{ media: 'films', path: `/${server}/${type}` }],
    }),
  );
  const tuner = tunerOnStage(`${server}-tv`, server, {
    guide: { xmltv: { url: `http://guide.example/${server}.xml` } },
  });
  return [serverOnStage(server, index % 2 ? { api: { replicas: 1 } } : {}), ...libraries, tuner];
}

describe(`50 resources at rest for ${MINUTES} min`, function () {
  this.timeout(MINUTES * 60_000 + 240_000);
  let stage: Stage;
  let namespace = '';
  let operator: OperatorProcess;

  const kinds = ['mediaservers', 'libraries', 'tunerdevices'];
  const written = (mark: number) => stage.cluster.audit.writes(mark, operatorOf(namespace));
  const all = () => stage.resources(namespace);
  const settled = (object: KubeObject): boolean => {
    const { observedGeneration, conditions = [] } = (object.status ?? {}) as {
      observedGeneration?: number;
      conditions?: { type: string; status: string }[];
    };
    const is = (type: string) => conditions.find((condition) => condition.type === type)?.status === 'True';
    return observedGeneration === object.metadata.generation && is('Ready') && !is('Progressing');
  };
  const calm = () =>
    until(
      'no write for some seconds',
      async () => {
        const mark = await stage.cluster.audit.mark();
        await sleep(QUIET_MS);
        return (await written(mark)).length === 0;
      },
      90_000,
    );
  /** Requests a pass of each. */
  const resync = async (value: number): Promise<void> => {
    for (const kind of kinds)
      await stage.cluster.kubectl.run(['annotate', kind, '--all', '-n', namespace, '--overwrite', `resync=${value}`]);
  };

  before(async function () {
    this.timeout(UP_MS);
    stage = await Stage.open();
    namespace = await stage.namespace('rest', SERVERS);
    operator = await stage.operator(namespace, { leaderElect: true });
    for (const server of SERVERS) for (const type of ['movies', 'shows']) stage.folder('films', `${server}/${type}`);
    const resources = SERVERS.flatMap(household);
    expect(resources).to.have.length(50);
    await stage.cluster.kubectl.apply(
      ...resources.map((one) => ({ ...one, metadata: { ...one.metadata, namespace } })),
    );
    try {
      await until('all are ready', async () => (await all()).every(settled), 240_000);
    } catch (error) {
      const left = (await all()).filter((object) => !settled(object));
      throw new Error(`${(error as Error).message}\n${JSON.stringify(left.slice(0, 2), null, 1)}`);
    }
    await calm();
  });

  after(async function () {
    this.timeout(120_000);
    await stage.close();
  });

  it('are not written to, however often they are looked at, and by a new process neither', async () => {
    const mark = await stage.cluster.audit.mark();
    const end = performance.now() + MINUTES * 60_000;
    const apart = (MINUTES * 60_000) / (RESYNCS + 1);
    for (let count = 0; count < RESYNCS; count++) {
      await sleep(apart);
      if (count === RESYNCS / 2) {
        expect(await operator.stop()).to.equal(0);
        operator = await stage.operator(namespace, { leaderElect: true });
      }
      await resync(count);
    }
    await until('it leads', () => operator.lines.some(({ msg }) => msg === 'this process leads'));
    await sleep(Math.max(3000, end - performance.now()));
    expect((await written(mark)).map(line)).to.deep.equal([]);
    const requests = await stage.cluster.audit.since(mark);
    const leases = requests.filter(({ resource, verb, user }) => {
      return resource === 'leases' && verb === 'update' && operatorOf(namespace).test(user);
    });
    expect(leases.length, 'the log would show it').to.be.greaterThan(5);
    expect(operator.alarms).to.deep.equal([]);
  });

  it('cost one apply for each object that a change concerns', async () => {
    const mark = await stage.cluster.audit.mark();
    const { kubectl } = stage.cluster;
    const workers = { resources: { requests: { cpu: '77m', memory: '128Mi' }, limits: { cpu: '1', memory: '1Gi' } } };
    await kubectl.patch({ kind: 'mediaserver', name: 'home-3', namespace }, { spec: { workers } });
    await kubectl.patch({ kind: 'library', name: 'home-4-shows', namespace }, { spec: { displayName: 'Series' } });
    await kubectl.patch(
      { kind: 'tunerdevice', name: 'home-5-tv', namespace },
      { spec: { timeshift: { minutes: 30 } } },
    );
    await until('settled', async () => (await all()).every(settled));
    await calm();
    const writes = (await written(mark)).filter(({ resource, subresource }) => resource !== 'events' && !subresource);
    // The release names the settings in force, and the workers' template too.
    expect(writes.map(line).sort()).to.deep.equal([
      'patch configmaps home-3-release 200',
      'patch deployments home-3-workers 200',
      'patch deployments home-5-tv-tuner 200',
    ]);
    const server = await kubectl.find<KubeObject>({ kind: 'mediaserver', name: 'home-3', namespace });
    expect(server?.status).to.include({ observedGeneration: server?.metadata.generation });
    const titles = (await stage.api.deps.db('libraries').select('name')) as { name: string }[];
    expect(titles.map(({ name }) => name)).to.include('Series');
  });
});
