// Sieve's other two plans: an operator that receives outdated states, and one that never observes objects that came and
// went. Nothing is deleted, and nothing created again, by a false state; the end is that of an operator that observed
// all. FOYER_PLANS=2000 takes more of them, FOYER_SEED others, FOYER_PLAN=17 that one alone.
import { expect } from 'chai';
import { randomFrom, shuffled } from '../../cluster/mutations/random.ts';
import { managed } from '../media-server/specs.ts';
import { mediaServer, type World } from '../media-server/support.ts';
import { type Ended, MODES, PASSES, type Plan, runOf, type Workload } from './run.ts';
import { KINDS, type StoreServer } from './store-server.ts';

const PLANS = Number(process.env.FOYER_PLANS ?? 60);
const SEED = Number(process.env.FOYER_SEED ?? 1);
const ONLY = process.env.FOYER_PLAN === undefined ? undefined : Number(process.env.FOYER_PLAN);

/** Those that it decides by. */
const SHOWN = ['MediaServer', 'Secret', 'ConfigMap', 'Deployment', 'StatefulSet', 'Job', 'Pod', 'Ingress', 'Service'];

type Step = (world: World, store: StoreServer) => void;
const to =
  (spec: Record<string, unknown>): Step =>
  (world) =>
    world.change(spec);
const without =
  (kind: string, name: string): Step =>
  (_world, store) =>
    store.drop(kind, name);
const again: Step = (world, store) => {
  const { spec } = world.server;
  store.drop('MediaServer', 'home');
  const next = mediaServer(spec as Record<string, unknown>);
  store.put({ ...next, metadata: { ...next.metadata, uid: 'c0ffee00-0000-4000-8000-000000000001' } });
};
const ingress = { host: 'films.example', className: 'nginx' };

const workloads: Record<string, Workload> = {
  'an upgrade': { spec: managed, steps: [to({ version: '2.0.0' })] },
  'an upgrade and the way back': { spec: managed, steps: [to({ version: '2.0.0' }), to({ version: '1.0.0' })] },
  'settings that change': {
    spec: managed,
    steps: [to({ settings: { 'server.name': 'A' } }), to({ settings: { 'server.name': 'B' } })],
  },
  'an ingress that comes, goes and comes': {
    spec: managed,
    steps: [to({ ingress }), to({ ingress: undefined }), to({ ingress })],
  },
  'a store outside': { spec: managed, steps: [to({ redis: { secretRef: { name: 'cache' } } })] },
  'more and fewer pods': {
    spec: managed,
    steps: [to({ transcode: { warm: 3, max: 3 }, api: { replicas: 3 } }), to({ transcode: { warm: 1 }, api: {} })],
  },
  'a spec that cannot be, mended': {
    spec: managed,
    steps: [to({ email: { secretRef: { name: 'nowhere' } } }), to({ email: { secretRef: { name: 'mail' } } })],
  },
  'children that another client deletes': {
    spec: managed,
    steps: [
      without('Deployment', 'home-workers'),
      without('ConfigMap', 'home-release'),
      without('Service', 'home-api'),
    ],
  },
  'the record of the plan in force deleted in an upgrade': {
    spec: managed,
    steps: [
      (world, store) => {
        world.change({ version: '2.0.0' });
        store.drop('ConfigMap', 'home-release');
      },
    ],
  },
  'a server made again under its name': { spec: managed, steps: [again] },
};

const allFrom = (kind: string): string[] => [kind, ...KINDS.filter((other) => other !== kind)];

/** Each found a fault once. */
const FOUND: readonly [workload: string, plan: Plan][] = [
  ['an ingress that comes, goes and comes', { mode: 'old', kinds: ['MediaServer'], at: 12, lasts: 4, from: 0.2 }],
  ['settings that change', { mode: 'old', kinds: allFrom('Service'), at: 8, lasts: 7, from: 0.153 }],
  ['a store outside', { mode: 'old', kinds: allFrom('StatefulSet'), at: 11, lasts: 6, from: 0.303 }],
];

/** Every so-manieth of all plans of a seed. */
function plans(): { name: string; workload: Workload; plan: Plan }[] {
  const random = randomFrom(SEED);
  const names = Object.keys(workloads);
  const found = FOUND.map(([name, plan]) => ({ name, workload: workloads[name] as Workload, plan }));
  const seeded = Array.from({ length: PLANS }, (_, index) => {
    const name = names[index % names.length] ?? '';
    const workload = workloads[name] as Workload;
    const passes = PASSES * (workload.steps.length + 1);
    const mode = MODES[Math.floor(index / names.length) % MODES.length] ?? 'late';
    const some = shuffled(random, SHOWN).slice(0, random() < 0.7 ? 1 : 2);
    const kinds = random() < 0.2 ? allFrom(some[0] ?? '') : some;
    const at = Math.floor(random() * (passes - 1));
    const plan = { mode, kinds, at, lasts: 1 + Math.floor(random() * 2 * PASSES), from: random() };
    return { name, workload, plan };
  });
  return [...found, ...seeded];
}

describe('an operator that receives outdated states', function () {
  this.timeout(600_000);
  const undisturbed = new Map<string, Ended>();

  for (const [name, workload] of Object.entries(workloads))
    it(`sees all: ${name}`, async () => {
      const ended = await runOf(workload);
      undisturbed.set(name, ended);
      expect(ended.faults).to.deep.equal([]);
      expect(ended.state).to.have.property('Deployment/home-api 1');
    });

  for (const mode of MODES)
    it(`deletes nothing for it, and ends the same: ${mode}`, async () => {
      const faults: string[] = [];
      let count = 0;
      for (const [index, { name, workload, plan }] of plans().entries()) {
        if (plan.mode !== mode || (ONLY !== undefined && ONLY !== index)) continue;
        count += 1;
        const kinds = plan.kinds.length >= KINDS.length ? 'all' : plan.kinds.join(' and ');
        const description = `plan ${index}, ${name}, ${kinds} at ${plan.at} for ${plan.lasts}`;
        const ended = await runOf(workload, plan).catch((error: Error) => error);
        if (ended instanceof Error) faults.push(`${description}: ${ended.stack}`);
        else
          faults.push(
            ...[...ended.faults, ...differences(ended, undisturbed.get(name))].map((one) => `${description}: ${one}`),
          );
      }
      expect(faults.join('\n')).to.equal('');
      if (ONLY === undefined) expect(count).to.be.at.least(PLANS / 5);
    });
});

function differences({ state }: Ended, wanted: Ended | undefined): string[] {
  const names = new Set([...Object.keys(state), ...Object.keys(wanted?.state ?? {})]);
  return [...names]
    .filter((name) => state[name] !== wanted?.state[name])
    .map((name) => difference(name, state, wanted));
}

function difference(name: string, state: Ended['state'], wanted: Ended | undefined): string {
  const [is = '', was = ''] = [state[name], wanted?.state[name]];
  const from = Math.max(0, is.split('').findIndex((letter, index) => letter !== was[index]) - 60);
  return `${name} is ${is.slice(from, from + 160) || 'absent'}, undisturbed ${was.slice(from, from + 160) || 'absent'}`;
}
