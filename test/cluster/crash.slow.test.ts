// The operator is killed after each single write that bringing up a server, a library and a tuner takes, and started again: the
// end is the same as without. Two of them on one namespace: one works.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import type { Request } from './support/audit.ts';
import { UP_MS } from './support/cluster.ts';
import { differencesOf, endState, secretValues } from './support/end-state.ts';
import { type OperatorProcess, operatorOf } from './support/operator-process.ts';
import type { Resource } from './support/specs.ts';
import { libraryOnStage, Stage, serverOnStage, tunerOnStage } from './support/stage.ts';
import { least, until } from './support/until.ts';

/** Operators that are on their way at one time: each is a process that starts, and there are few cores. */
const AT_ONCE = 3;
/** How far the writes looked at lie apart; 1 is every one of them, and takes a quarter of an hour. */
const STEP = Number(process.env.FOYER_CRASH_STEP ?? 8);
/** Only this write, to check its effect. */
const ONLY = Number(process.env.FOYER_CRASH_AT ?? 0);
const SETTLE_MS = 120_000;

interface ReportedStatus {
  observedGeneration?: number;
  conditions?: { type: string; status: string }[];
}

const is = ({ conditions = [] }: ReportedStatus, type: string): boolean =>
  conditions.find((condition) => condition.type === type)?.status === 'True';

const isSettled = ({ kind, metadata, status = {} }: KubeObject): boolean => {
  const reported = status as ReportedStatus;
  if (reported.observedGeneration !== metadata.generation || !is(reported, 'Ready')) return false;
  return kind !== 'MediaServer' || (!is(reported, 'Progressing') && is(reported, 'TranscodeReady'));
};

describe('an operator that dies', function () {
  this.timeout(30 * 60_000);
  let stage: Stage;

  /** All share one API: each has a folder and a name of its own there. */
  const resources = (namespace: string): Resource[] => {
    stage.folder('films', namespace);
    const films = { displayName: `Films ${namespace}`, folders: [{ media: 'films', path: `/${namespace}` }] };
    return [
      serverOnStage('home', { monitoring: { dashboard: true } }),
      libraryOnStage('films', 'home', films),
      tunerOnStage('tv', 'home'),
    ].map((one) => ({ ...one, metadata: { ...one.metadata, namespace } }));
  };

  const settled = (namespace: string, over = () => false): Promise<unknown> =>
    until(
      `${namespace} settles`,
      async () => {
        if (over()) return true;
        const [all, jobs] = await Promise.all([stage.resources(namespace), stage.list('batch/v1 jobs', namespace)]);
        const phases = jobs.map(({ metadata }) => metadata.annotations?.['foyer.media/phase']).filter(Boolean);
        return all.length === 3 && all.every(isSettled) && phases.length === 2;
      },
      SETTLE_MS,
    );

  /** Undisturbed from here on: the end state. */
  async function ending(namespace: string): Promise<Record<string, unknown>> {
    const operator = await stage.operator(namespace);
    // All may be settled before it has begun: a process that starts cannot be stopped yet.
    await until('it has begun', () => operator.lines.some(({ msg }) => msg === 'the caches are filled'));
    await settled(namespace);
    await sleep(1500); // the consequences of the last write
    const state = await endState(stage.cluster.kubectl, namespace);
    expect(operator.alarms.join('\n')).to.equal('');
    expect(await operator.stop()).to.equal(0);
    return state;
  }

  before(async function () {
    this.timeout(UP_MS);
    stage = await Stage.open();
  });
  after(async function () {
    this.timeout(180_000);
    await stage.close();
  });

  describe('after any single write', () => {
    let undisturbed: Record<string, unknown>;
    let points = 0;

    before(async () => {
      const namespace = await stage.namespace('calm', ['home']);
      const mark = await stage.cluster.audit.mark();
      await stage.cluster.kubectl.apply(...resources(namespace));
      undisturbed = await ending(namespace);
      const counted = ({ resource, code }: Request) => resource !== 'events' && code < 300;
      points = (await stage.cluster.audit.writes(mark, operatorOf(namespace))).filter(counted).length;
      await stage.clear(namespace);
    });

    /** Whether there was such a write. Throws when it ends otherwise. */
    async function dies(writes: number): Promise<boolean> {
      const { kubectl } = stage.cluster;
      const namespace = await stage.namespace(`crash-${writes}`, ['home']);
      await kubectl.apply(...resources(namespace));
      const dying = await stage.operator(namespace, { crashAfterWrites: writes });
      const died = await Promise.race([dying.exited(), settled(namespace, () => !dying.alive).then(() => sleep(3000))]);
      await dying.kill();
      const made = await secretValues(kubectl, namespace);
      const state = await ending(namespace);
      const values = await secretValues(kubectl, namespace);
      for (const [name, value] of Object.entries(made)) {
        if (/-(environment|claim)/.test(name)) continue; // one is named by its content; the other goes with an owner
        expect(values[name], `Secret ${name} after write ${writes}`).to.equal(value);
      }
      expect(differencesOf(state, undisturbed).join('\n')).to.equal('');
      await stage.clear(namespace);
      return died === 'SIGKILL';
    }

    it(`ends the same, at ${STEP === 1 ? 'every write' : `one write of ${STEP}`} of a full reconcile`, async () => {
      expect(points).to.be.greaterThan(35);
      let next = ONLY || 1;
      let killed = 0;
      let fewest = ONLY ? ONLY + 1 : Number.POSITIVE_INFINITY;
      const faults: string[] = [];
      const lane = async (): Promise<void> => {
        while (next < fewest && next < 2 * points) {
          const writes = next;
          next += STEP;
          try {
            if (await dies(writes)) killed += 1;
            else fewest = Math.min(fewest, writes);
          } catch (error) {
            faults.push(`after write ${writes}: ${(error as Error).message}`);
          }
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
      expect(faults.join('\n')).to.equal('');
      // Two runs differ by a status or two, as pods come up sooner or later.
      expect(killed).to.be.at.least(ONLY ? 1 : Math.floor((points * 0.8) / STEP));
    });
  });

  describe('next to another', () => {
    let namespace = '';
    let first: OperatorProcess;
    let second: OperatorProcess;
    const writes = async (mark: number, user: RegExp) =>
      (await stage.cluster.audit.writes(mark, user)).filter((request) => request.namespace === namespace);
    const FIRST = () => operatorOf(namespace);
    /** By its user agent. */
    const EITHER = /^foyer-operator$/;
    const leads = (operator: OperatorProcess) => operator.lines.some(({ msg }) => msg === 'this process leads');

    const secondsUntilLead = async (operator: OperatorProcess): Promise<number> => {
      const began = performance.now();
      await until('it leads', () => leads(operator), 40_000);
      return (performance.now() - began) / 1000;
    };

    async function waiting(): Promise<OperatorProcess> {
      const operator = await stage.operator(namespace, { leaderElect: true, asAdmin: true });
      await until('it waits', () => operator.lines.some(({ msg }) => msg === 'the caches are filled'));
      return operator;
    }

    beforeEach(async () => {
      namespace = await stage.namespace('two', ['home']);
      first = await stage.operator(namespace, { leaderElect: true });
      await until('the first leads', () => leads(first));
      second = await waiting();
      await stage.cluster.kubectl.apply(...resources(namespace));
      await settled(namespace);
      expect(leads(second)).to.equal(false);
    });
    afterEach(async () => {
      await Promise.all([first.kill(), second.kill()]);
      await stage.clear(namespace);
    });

    /** The leader is stopped so; a new one waits for the next time. */
    const handOver = async (by: 'SIGTERM' | 'SIGKILL'): Promise<number> => {
      first.signal(by);
      const [status, seconds] = await Promise.all([first.exited(), secondsUntilLead(second)]);
      expect(status).to.equal(by === 'SIGTERM' ? 0 : by);
      first = second;
      second = await waiting();
      return seconds;
    };

    it('hands over within 3 s when it is stopped', async () => {
      expect(await least(4, 3, () => handOver('SIGTERM'))).to.be.at.most(3);
    });

    it('is followed within 20 s when it is killed', async () => {
      expect(await least(3, 20, () => handOver('SIGKILL'))).to.be.at.most(20);
    });

    it('writes nothing more once it was stopped for longer than its lease, and no Job is made twice', async () => {
      const mark = await stage.cluster.audit.mark();
      // In the middle of work: the new version has its migration to run, and its pods to roll.
      await stage.cluster.kubectl.patch(
        { kind: 'mediaserver', name: 'home', namespace },
        { spec: { version: '2.0.0' } },
      );
      await sleep(150);
      first.signal('SIGSTOP');
      await secondsUntilLead(second);
      const taken = await stage.cluster.audit.mark();
      first.signal('SIGCONT');
      await stage.cluster.kubectl.patch(
        { kind: 'mediaserver', name: 'home', namespace },
        { spec: { transcode: { warm: 3, idleSeconds: 10 } } },
      );
      expect(await first.exited()).to.equal(1);
      await settled(namespace);
      const late = await writes(taken, FIRST());
      expect(late.filter(({ code }) => code < 300)).to.deep.equal([]);
      const ofJobs = (await writes(mark, EITHER)).filter(({ resource, code }) => resource === 'jobs' && code < 300);
      const made = ofJobs.filter(({ code }) => code === 201);
      const names = made.map(({ name }) => name);
      // A worker of the old version may have had its number first: it went before that was given again.
      const ended = ofJobs.filter(({ verb }) => verb === 'delete').map(({ name }) => name);
      const again = names.filter((name, index) => names.indexOf(name) < index && !ended.includes(name));
      expect(again, names.join()).to.deep.equal([]);
      expect(names.filter((name) => name.includes('-migrate-'))).to.have.length(2);
      const workers = await stage.cluster.kubectl.list<KubeObject>(
        'jobs',
        namespace,
        'app.kubernetes.io/component=transcode',
      );
      expect(workers.filter(({ metadata }) => !metadata.deletionTimestamp)).to.have.length(3);
    });
  });
});
