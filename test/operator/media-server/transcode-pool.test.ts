import { expect } from 'chai';
import { demandOf } from '#operator/media-server/transcode-demand.ts';
import {
  type ObservedPool,
  type PoolJob,
  type PoolWorker,
  planPool,
  poolStatus,
} from '#operator/media-server/transcode-pool.ts';
import { transcodeVerdict } from '#operator/media-server/transcode-verdict.ts';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';

const now = new Date('2026-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);

function transcode(given: object = {}) {
  const stores = { postgres: { managed: {} }, redis: { managed: {} }, objects: { managed: {} } };
  return MediaServerSpec.parse({ ...stores, transcode: given }).transcode;
}
const gpu = { accelerator: { resourceName: 'nvidia.com/gpu', kind: 'nvenc' } };

const job = (index: number, given: Partial<PoolJob> = {}): PoolJob => ({
  name: `home-transcode-${index}`,
  index,
  template: 'now',
  accelerated: false,
  fallback: false,
  createdAt: ago(600),
  completed: false,
  deleting: false,
  pod: { name: `pod-${index}`, createdAt: ago(600) },
  ...given,
});
const worker = (index: number, used: number, given: Partial<PoolWorker> = {}): PoolWorker => ({
  pod: `pod-${index}`,
  encoder: 'libx264',
  gpu: false,
  slots: 3,
  used,
  idleSeconds: used === 0 ? 30 : 0,
  ...given,
});
const seen = (given: Partial<ObservedPool> = {}): ObservedPool => ({
  jobs: [],
  demand: { waiting: 0, sessions: 0, workers: [] },
  silent: new Set(),
  template: 'now',
  now,
  ...given,
});
const demand = (waiting: number, ...workers: PoolWorker[]) => ({
  waiting,
  sessions: workers.reduce((sum, { used }) => sum + used, 0),
  workers,
});
const indexes = (made: { index: number }[]) => made.map(({ index }) => index);

describe('planPool', () => {
  it('starts the warm workers, also while the server reports no demand', () => {
    expect(indexes(planPool(transcode({ warm: 2 }), seen({ demand: undefined })).make)).to.deep.equal([0, 1]);
  });

  it('rests when one worker waits and no session starts', () => {
    const plan = planPool(transcode(), seen({ jobs: [job(0)], demand: demand(0, worker(0, 2)) }));
    expect(plan).to.deep.include({ make: [], end: [] });
  });

  it('keeps one waiting when the others are full, and makes room for those that wait, up to max', () => {
    const full = seen({ jobs: [job(0)], demand: demand(0, worker(0, 3)) });
    expect(indexes(planPool(transcode(), full).make)).to.deep.equal([1]);
    const crowd = seen({ jobs: [job(0)], demand: demand(7, worker(0, 3)) });
    expect(indexes(planPool(transcode({ max: 10 }), crowd).make)).to.deep.equal([1, 2, 3, 4]);
    expect(indexes(planPool(transcode({ max: 3 }), crowd).make)).to.deep.equal([1, 2]);
  });

  it('makes the Job of a pod that runs without a report again, and counts on no session of it', () => {
    const mute = seen({ jobs: [job(0)], demand: demand(1), silent: new Set(['pod-0']) });
    const plan = planPool(transcode({ max: 2 }), mute);
    expect(plan.end).to.deep.equal(['home-transcode-0']);
    expect(indexes(plan.make)).to.deep.equal([1]);
    const ending = planPool(transcode({ max: 1 }), { ...mute, jobs: [job(0, { deleting: true })] });
    expect([ending.end, indexes(ending.make)], 'once it leaves').to.deep.equal([[], [1]]);
  });

  it('ends workers that are idle for long and over the desired number, never those that work', () => {
    const jobs = [job(0), job(1), job(2)];
    const idle = seen({ jobs, demand: demand(0, worker(0, 1), worker(1, 0, { idleSeconds: 301 }), worker(2, 0)) });
    expect(planPool(transcode(), idle)).to.deep.include({ make: [], end: ['home-transcode-1'] });
  });

  it('changes nothing while demand is unknown', () => {
    const plan = planPool(transcode(), seen({ jobs: [job(0), job(1), job(2)], demand: undefined }));
    expect(plan).to.deep.include({ make: [], end: [] });
  });

  it('removes surplus Jobs, and those that failed a minute ago', () => {
    const jobs = [job(0, { completed: true }), job(1, { failedAt: ago(61) }), job(2, { failedAt: ago(5) })];
    const plan = planPool(transcode(), seen({ jobs }));
    expect(plan.end).to.deep.equal(['home-transcode-0', 'home-transcode-1']);
    expect(plan.make, 'the failed one is not replaced at once').to.deep.equal([]);
  });

  it('falls to the CPU after ten seconds without a device, and only when allowed', () => {
    const starved = (seconds: number) => {
      const pod = { name: 'pod-0', createdAt: ago(seconds), unschedulable: 'Insufficient nvidia.com/gpu' };
      return seen({ jobs: [job(0, { accelerated: true, createdAt: ago(seconds), pod })] });
    };
    expect(planPool(transcode(gpu), starved(9))).to.deep.include({ make: [], end: [] });
    const plan = planPool(transcode({ ...gpu, max: 1 }), starved(10));
    expect(plan.end).to.deep.equal(['home-transcode-0']);
    expect(plan.make).to.deep.equal([{ index: 1, accelerated: false, fallback: true }]);
    expect(planPool(transcode({ ...gpu, fallbackToCPU: false }), starved(60))).to.deep.include({ make: [], end: [] });
  });

  it('falls to the CPU also where a quota of the device is full, and not for another quota', () => {
    const refused = (resource: string, seconds: number) => {
      const words = `no pod of Job home-transcode-0 can be created: exceeded quota: devices, limited: requests.${resource}=0`;
      const { pod: _none, ...bare } = job(0, { accelerated: true, createdAt: ago(seconds), refused: words });
      return seen({ jobs: [bare] });
    };
    const plan = planPool(transcode({ ...gpu, max: 1 }), refused('nvidia.com/gpu', 10));
    expect(plan.end).to.deep.equal(['home-transcode-0']);
    expect(plan.make).to.deep.equal([{ index: 1, accelerated: false, fallback: true }]);
    const none = { make: [], end: [] };
    expect(planPool(transcode(gpu), refused('nvidia.com/gpu', 9))).to.deep.include(none);
    expect(planPool(transcode(gpu), refused('memory', 60))).to.deep.include(none);
    expect(planPool(transcode({ ...gpu, fallbackToCPU: false }), refused('nvidia.com/gpu', 60))).to.deep.include(none);
  });

  it('goes straight to the CPU for a minute after that, then requests the device again', () => {
    const fallen = (seconds: number) =>
      seen({ jobs: [job(0, { fallback: true, createdAt: ago(seconds) })], demand: demand(1, worker(0, 3)) });
    expect(planPool(transcode(gpu), fallen(30)).make).to.deep.include({ index: 1, accelerated: false, fallback: true });
    expect(planPool(transcode(gpu), fallen(90)).make).to.deep.include({ index: 1, accelerated: true, fallback: false });
  });

  it('tries the device again with an idle worker on the CPU after half an hour', () => {
    const old = job(0, { fallback: true, createdAt: ago(1800) });
    expect(planPool(transcode(gpu), seen({ jobs: [old], demand: demand(0, worker(0, 0)) })).end).to.deep.equal([
      'home-transcode-0',
    ]);
    expect(planPool(transcode(gpu), seen({ jobs: [old], demand: demand(0, worker(0, 1)) })).end).to.deep.equal([]);
  });

  it('replaces workers of an older template one at a time, when those of the new one work', () => {
    const jobs = [job(0, { template: 'old' }), job(1, { template: 'old' })];
    const first = planPool(transcode(), seen({ jobs, demand: demand(0, worker(0, 2), worker(1, 1)) }));
    expect(first).to.deep.include({ make: [{ index: 2, accelerated: false, fallback: false }], end: [] });
    const starting = seen({ jobs: [...jobs, job(2)], demand: demand(0, worker(0, 2), worker(1, 1)) });
    expect(planPool(transcode(), starting).end).to.deep.equal([]);
    const ready = seen({ jobs: [...jobs, job(2)], demand: demand(0, worker(0, 2), worker(1, 1), worker(2, 0)) });
    expect(planPool(transcode(), ready).end).to.deep.equal(['home-transcode-1']);
  });

  it('creates one more than the maximum, so that one works all the time', () => {
    const old = [job(0, { template: 'old' }), job(1, { template: 'old' })];
    const full = [worker(0, 3), worker(1, 2)];
    const begun = planPool(transcode({ max: 2 }), seen({ jobs: old, demand: demand(0, ...full) }));
    expect(begun).to.deep.include({ make: [{ index: 2, accelerated: false, fallback: false }], end: [] });
    const starting = planPool(transcode({ max: 2 }), seen({ jobs: [...old, job(2)], demand: demand(0, ...full) }));
    expect(starting).to.deep.include({ make: [], end: [] });
    const works = seen({ jobs: [...old, job(2)], demand: demand(0, ...full, worker(2, 0)) });
    expect(planPool(transcode({ max: 2 }), works)).to.deep.include({ make: [], end: ['home-transcode-1'] });
    const handedOver = seen({
      jobs: [job(0, { template: 'old' }), job(2)],
      demand: demand(0, worker(0, 3), worker(2, 2)),
    });
    expect(indexes(planPool(transcode({ max: 2 }), handedOver).make)).to.deep.equal([1]);
  });

  it('gives up one old worker, and no more, for a new one that no node takes', () => {
    const pod = { name: 'pod-2', createdAt: ago(3), unschedulable: 'Insufficient nvidia.com/gpu' };
    const blocked = job(2, { accelerated: true, pod });
    const [first, second] = [0, 1].map((index) => job(index, { template: 'old', accelerated: true }));
    const spec = transcode({ ...gpu, max: 2 });
    const crowd = seen({ jobs: [first, second, blocked] as PoolJob[], demand: demand(0, worker(0, 3), worker(1, 1)) });
    expect(planPool(spec, crowd)).to.deep.include({ make: [], end: ['home-transcode-1'] });
    const given = seen({ jobs: [first, blocked] as PoolJob[], demand: demand(0, worker(0, 3)) });
    expect(planPool(spec, given)).to.deep.include({ make: [], end: [] });
  });

  it('uses no number twice while a Job of that number still ends', () => {
    expect(indexes(planPool(transcode(), seen({ jobs: [job(0, { deleting: true })] })).make)).to.deep.equal([1]);
  });
});

describe('transcodeVerdict', () => {
  const verdict = (spec: object, given: Partial<ObservedPool>) => transcodeVerdict(transcode(spec), seen(given));

  it('reports when the CPU stands in for the device', () => {
    const result = verdict(gpu, { jobs: [job(0, { fallback: true })], demand: demand(0, worker(0, 0)) });
    expect(result).to.include({ status: 'True', reason: 'FellBackToCPU' });
    expect(result.message).to.include('nvidia.com/gpu');
  });

  it('reports a device that was given and does not encode', () => {
    const result = verdict(gpu, { jobs: [job(0, { accelerated: true })], demand: demand(0, worker(0, 0)) });
    expect(result).to.include({ status: 'True', reason: 'EncoderUnavailable' });
  });

  it("gives the scheduler's words when nothing is placed", () => {
    const pod = { name: 'pod-0', createdAt: ago(60), unschedulable: '0/1 nodes are available' };
    const result = verdict({ ...gpu, fallbackToCPU: false }, { jobs: [job(0, { accelerated: true, pod })] });
    expect(result).to.include({ status: 'False', reason: 'Unschedulable' });
    expect(result.message).to.include('0/1 nodes are available');
  });

  it('reports why no pod can be created, alone and next to others that serve', () => {
    const { pod: _none, ...bare } = job(1);
    const refused =
      'no pod of Job home-transcode-1 can be created: its pod is forbidden: exceeded quota (FailedCreate)';
    expect(verdict({}, { jobs: [{ ...bare, refused }] })).to.include({
      ...{ status: 'False', reason: 'Refused', message: refused },
    });
    const result = verdict({}, { jobs: [job(0), { ...bare, refused }], demand: demand(0, worker(0, 0)) });
    expect(result).to.include({ status: 'True', reason: 'Refused' });
    expect(result.message).to.include('1 workers run, 1 cannot be created').and.include('exceeded quota');
  });

  it('reports the fault that keeps a pod from running', () => {
    const trouble = { reason: 'ImageUnavailable', message: 'pod pod-0: ErrImagePull' } as const;
    const jobs = [job(0, { pod: { name: 'pod-0', createdAt: ago(60), trouble } })];
    expect(verdict({}, { jobs })).to.include({ status: 'False', ...trouble });
    expect(verdict({}, { jobs, demand: demand(0, worker(3, 0)) })).to.include({ status: 'True', reason: 'Running' });
  });

  it('names the pod that is not placed also while others serve', () => {
    const pod = { name: 'pod-1', createdAt: ago(5), unschedulable: 'Insufficient nvidia.com/gpu' };
    const jobs = [job(0, { accelerated: true }), job(1, { accelerated: true, pod })];
    const result = verdict(gpu, { jobs, demand: demand(0, worker(0, 0, { gpu: true })) });
    expect(result).to.include({ status: 'True', reason: 'Unschedulable' });
    expect(result.message).to.include('1 workers run, 1 are unschedulable: pod pod-1').and.include('Insufficient');
  });

  it('counts the workers that really encode on the CPU', () => {
    const jobs = [job(0, { accelerated: true }), job(1, { accelerated: true }), job(2, { fallback: true })];
    const workers = [worker(0, 0, { gpu: true }), worker(1, 0), worker(2, 0)];
    expect(verdict(gpu, { jobs, demand: demand(0, ...workers) }).message).to.include('2 of 3 workers');
  });

  it('is well without a worker where none is to wait, and not while one is on its way', () => {
    const result = verdict({ warm: 0 }, {});
    expect(result).to.include({ status: 'True', reason: 'NoneAsked' });
    expect(result.message).to.include('spec.transcode.warm is 0');
    expect(verdict({ warm: 0 }, { jobs: [job(0)], demand: demand(1) })).to.include({ status: 'False' });
    expect(verdict({ warm: 1 }, {})).to.include({ status: 'False', reason: 'Starting' });
  });

  it('reports a worker that runs and never reports, once that took longer than a start', () => {
    const none = demand(0);
    const young = { ...job(0), pod: { name: 'pod-0', createdAt: ago(200) } };
    expect(verdict({}, { jobs: [young], demand: none })).to.include({ status: 'False', reason: 'Starting' });
    const late = verdict({}, { jobs: [job(0)], demand: none });
    expect(late).to.include({ status: 'False', reason: 'Unavailable' });
    expect(late.message).to.contain('kubectl logs pod-0');
  });

  it('is unknown while the server reports nothing', () => {
    expect(verdict({}, { demand: undefined })).to.include({ status: 'Unknown', reason: 'ServerNotReady' });
  });
});

describe('demandOf', () => {
  const text = [
    '# HELP foyer_transcode_waiting x',
    'foyer_transcode_waiting 2',
    'foyer_transcode_sessions 4',
    'foyer_transcode_workers 1',
    'foyer_transcode_worker_slots{pod="home-transcode-0-abc",encoder="nvenc",gpu="true"} 3',
    'foyer_transcode_worker_sessions{pod="home-transcode-0-abc",encoder="nvenc",gpu="true"} 1',
    'foyer_transcode_worker_idle_seconds{pod="home-transcode-0-abc",encoder="nvenc",gpu="true"} 12.5',
  ];

  it('reads the metrics of the API', () => {
    const workers = [
      { pod: 'home-transcode-0-abc', encoder: 'nvenc', gpu: true, slots: 3, used: 1, idleSeconds: 12.5 },
    ];
    expect(demandOf(text.join('\n'))).to.deep.equal({ waiting: 2, sessions: 4, workers });
    expect(poolStatus(seen({ demand: demandOf(text.join('\n')) }))).to.include({ accelerator: 'nvenc', waiting: 2 });
  });

  it('takes a missing series for not knowing', () => {
    expect(demandOf(text.filter((line) => !line.startsWith('foyer_transcode_workers')).join('\n'))).to.equal(undefined);
  });
});
