import { expect } from 'chai';
import { refusalOf, StaleCache, Unreached } from '#operator/runtime/faults.ts';
import { type Kube, type KubeObject, PermanentFault, type ReportedEvent } from '#operator/runtime/kube.ts';
import { newLog } from '#operator/runtime/log.ts';
import { newMetrics } from '#operator/runtime/metrics.ts';
import { Work } from '#operator/runtime/work.ts';

interface Line {
  message: string;
  stack?: string;
}

/** The log lines and events of a pass that fails so. */
async function failing(error: Error): Promise<{ line: Line; event: string }> {
  const { promise, resolve } = Promise.withResolvers<{ line: Line; event: string }>();
  const lines: Line[] = [];
  const log = Object.assign(newLog('silent'), { warn: (entry: Line) => void lines.push(entry) });
  const about: KubeObject = { apiVersion: 'v1', kind: 'Library', metadata: { name: 'films', namespace: 'media' } };
  const event = (_about: KubeObject, { message }: ReportedEvent): void =>
    resolve({ line: lines[0] ?? { message: '' }, event: message });
  const kube = { get: () => about, event } as unknown as Kube;
  const controller = { kind: 'Library', watches: [], reconcile: () => Promise.reject(error) };
  const work = new Work(controller, { kube, metrics: newMetrics(), log, workers: 1 });
  work.start();
  work.add({ namespace: 'media', name: 'films' });
  const printed = await promise;
  await work.stop();
  return printed;
}

describe('a pass that fails', () => {
  it('describes faults of others in words', async () => {
    const unreachable = 'the API server does not answer: socket hang up';
    expect(await failing(new Unreached('socket hang up'))).to.deep.include({ event: unreachable });
    for (const error of [new Unreached('x'), refusalOf('/api', 422, { body: 'no' }), new PermanentFault('taken')])
      expect((await failing(error)).line.stack, error.message).to.equal(undefined);
  });

  it('is given up and begun again, which is no fault and not reported, where an object was not observed yet', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const events: ReportedEvent[] = [];
    let passes = 0;
    const about: KubeObject = { apiVersion: 'v1', kind: 'Library', metadata: { name: 'films', namespace: 'media' } };
    const kube = {
      get: () => about,
      event: (_: KubeObject, printed: ReportedEvent) => events.push(printed),
    } as unknown as Kube;
    const reconcile = async () => {
      passes += 1;
      if (passes < 4) throw new StaleCache('Secret home-keys exists and was not in the cache yet');
      resolve();
      return {};
    };
    const controller = { kind: 'Library', watches: [], reconcile };
    const metrics = newMetrics();
    const work = new Work(controller, { kube, metrics, log: newLog('silent'), workers: 1 });
    work.start();
    work.add({ namespace: 'media', name: 'films' });
    await promise;
    await work.stop();
    expect(events).to.deep.equal([]);
    expect(passes).to.equal(4);
    const results = (await metrics.reconciles.get()).values.map(({ labels, value }) => `${labels.result} ${value}`);
    expect(results.sort()).to.deep.equal(['requeue_after 3', 'success 1']);
    expect((await metrics.reconcileErrors.get()).values).to.deep.equal([]);
  });

  it('reports the place of our own faults', async () => {
    const { line, event } = await failing(new TypeError('it is undefined'));
    expect(event).to.equal('it is undefined');
    expect(line.stack).to.include('work.test.ts');
  });
});
