// Two operators that both take themselves for the only one, as after a partition: they make nothing twice and do not fight.
// The whole of it: FOYER_BOTH_SECONDS=300; FOYER_SEED takes another order.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { pick, randomFrom } from './mutations/random.ts';
import { UP_MS } from './support/cluster.ts';
import { secretValues } from './support/end-state.ts';
import type { OperatorProcess } from './support/operator-process.ts';
import { libraryOnStage, Stage, serverOnStage, tunerOnStage } from './support/stage.ts';
import { until } from './support/until.ts';

const SECONDS = Number(process.env.FOYER_BOTH_SECONDS ?? 60);
const SEED = Number(process.env.FOYER_SEED ?? 1);
const REST_MS = 30_000;
/** By its user agent. */
const EITHER = /^foyer-operator$/;

describe('two operators without an election', function () {
  this.timeout((SECONDS + 600) * 1000);
  let stage: Stage;
  let namespace = '';
  let operators: OperatorProcess[] = [];
  let mark = 0;
  let values: Record<string, string> = {};
  const random = randomFrom(SEED);

  const isSettled = async (): Promise<boolean> => {
    const all = await stage.resources(namespace);
    return (
      all.length === 3 &&
      all.every(({ metadata, status }) => {
        const { observedGeneration, conditions = [] } = (status ?? {}) as {
          observedGeneration?: number;
          conditions?: { type: string; status: string }[];
        };
        const of = (type: string) => conditions.find((one) => one.type === type)?.status;
        return observedGeneration === metadata.generation && of('Ready') === 'True' && of('Progressing') !== 'True';
      })
    );
  };
  const successful = async (from: number) =>
    (await stage.cluster.audit.writes(from, EITHER)).filter((one) => one.namespace === namespace && one.code < 300);

  before(async function () {
    this.timeout(UP_MS);
    stage = await Stage.open();
    namespace = await stage.namespace('both', ['home']);
    mark = await stage.cluster.audit.mark();
    const found = [await stage.operator(namespace), await stage.operator(namespace, { asAdmin: true })];
    operators = found;
    for (const operator of found)
      await until('it has begun', () => operator.lines.some(({ msg }) => msg === 'the caches are filled'));
    stage.folder('films', namespace);
    const films = { displayName: `Films ${namespace}`, folders: [{ media: 'films', path: `/${namespace}` }] };
    const server = serverOnStage('home', { transcode: { idleSeconds: 10, max: 4 } });
    const all = [server, libraryOnStage('films', 'home', films), tunerOnStage('tv', 'home')];
    await stage.cluster.kubectl.apply(...all.map((one) => ({ ...one, metadata: { ...one.metadata, namespace } })));
    await until('all settle', isSettled, 180_000);
    values = await secretValues(stage.cluster.kubectl, namespace);
  });
  after(async function () {
    this.timeout(180_000);
    await Promise.all(operators.map((operator) => operator.kill()));
    await stage?.close();
  });

  /** Changes by another client, and demand that comes and goes. */
  async function change(count: number): Promise<void> {
    const number = () => 1 + Math.floor(random() * 3);
    stage.waiting = random() < 0.3 ? 6 : 0;
    const spec = pick(random, [
      { workers: { replicas: number() } },
      { api: { replicas: number() } },
      { transcode: { warm: number() } },
      { version: `2.0.${count}` },
    ]);
    await stage.cluster.kubectl.patch({ kind: 'mediaserver', name: 'home', namespace }, { spec });
  }

  it('apply the changes of people', async () => {
    const deadline = Date.now() + SECONDS * 1000;
    for (let count = 0; Date.now() < deadline; count++) {
      await change(count);
      await sleep(random() * 3000);
      if (count % 3 === 2) {
        stage.waiting = 0;
        await until('all settle', isSettled, 180_000);
      }
    }
    stage.waiting = 0;
    await until('all settle', isSettled, 180_000);
    expect(operators.every(({ alive }) => alive)).to.equal(true);
  });

  it('made no Job twice, and no secret again', async () => {
    const jobs = (await successful(mark)).filter(({ resource, subresource }) => resource === 'jobs' && !subresource);
    const living = new Set<string>();
    const twice: string[] = [];
    for (const { verb, code, name } of jobs) {
      if (verb === 'delete') living.delete(name);
      if (code !== 201) continue;
      if (living.has(name)) twice.push(name);
      living.add(name);
    }
    expect(twice).to.deep.equal([]);
    const migrations = jobs
      .filter(({ code, name }) => code === 201 && name.includes('-migrate-'))
      .map(({ name }) => name);
    expect(migrations.length).to.be.greaterThan(1);
    expect(new Set(migrations).size).to.equal(migrations.length);
    const now = await secretValues(stage.cluster.kubectl, namespace);
    for (const [name, value] of Object.entries(values))
      if (!/-environment-/.test(name)) expect(now[name], name).to.equal(value);
  });

  it('write nothing at rest', async () => {
    await until('rest', async () => {
      const from = await stage.cluster.audit.mark();
      await sleep(10_000);
      return (await successful(from)).length === 0;
    });
    const from = await stage.cluster.audit.mark();
    await sleep(REST_MS);
    expect(await successful(from)).to.deep.equal([]);
  });
});
