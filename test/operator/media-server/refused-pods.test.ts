import { expect } from 'chai';
import { refusalsIn, refusedPod } from '#operator/media-server/refused-pods.ts';
import { poolJobs } from '#operator/media-server/transcode-jobs.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { running } from './specs.ts';

const job: KubeObject = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'home-transcode-0', uid: 'j' } };
const quota = 'is forbidden: exceeded quota: full, requested: pods=1, used: pods=4, limited: pods=4';

const event = (message: string, at: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: `e-${at}`, namespace: 'media' },
  type: 'Warning',
  reason: 'FailedCreate',
  message,
  lastTimestamp: `2026-01-01T00:00:0${at}Z`,
  involvedObject: { kind: 'Job', namespace: 'media', name: 'home-transcode-0', uid: 'j' },
  ...more,
});
const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'home-transcode-0-x',
    labels: { 'batch.kubernetes.io/job-name': 'home-transcode-0' },
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'home-transcode-0', uid: 'j' }],
  },
};

describe('pods that cannot be made', () => {
  it('are reported in the newest words, which a further try does not change', () => {
    const first = refusalsIn([event(`Error creating: pods "home-transcode-0-aaaaa" ${quota}`, '1')]);
    const next = refusalsIn([
      event(`Error creating: pods "home-transcode-0-bbbbb" ${quota}`, '3'),
      event('Error creating: pods "home-transcode-0-ccccc" is forbidden: another', '2'),
    ]);
    const refusal = refusedPod(job, { refusals: next, pods: [] });
    expect(refusal).to.equal(refusedPod(job, { refusals: first, pods: [] }));
    expect(refusal).to.equal(`no pod of Job home-transcode-0 can be created: its pod ${quota} (FailedCreate)`);
  });

  it('are not reported once there is one, nor for another object, nor by other Events', () => {
    const refusals = refusalsIn([event('x', '1')]);
    expect(refusedPod(job, { refusals, pods: [pod] })).to.equal(undefined);
    const other = { ...job, metadata: { ...job.metadata, uid: 'k' } };
    expect(refusedPod(other, { refusals, pods: [] })).to.equal(undefined);
    expect(refusalsIn([event('x', '1', { reason: 'SuccessfulCreate', type: 'Normal' })]).size).to.equal(0);
  });

  it('are reported from the Job to the pool', () => {
    const refusals = refusalsIn([event(`pods "a" ${quota}`, '1')]);
    expect(poolJobs([job], { pods: [], refusals })[0]?.refused).to.contain('exceeded quota');
    expect(poolJobs([job], { pods: [pod], refusals })[0]).not.to.have.property('refused');
  });

  it('hold up a store, a migration and the pool, each in its condition', async () => {
    const here = await running();
    for (const { metadata } of here.kube.list('Pod', 'media')) here.kube.drop('Pod', metadata.name);
    const set = here.kube.get('StatefulSet', 'media', 'home-postgres') as KubeObject;
    here.kube.put({ ...set, status: { replicas: 0 } });
    const about = (kind: string, name: string): KubeObject => {
      const { uid = '' } = here.kube.get(kind, 'media', name)?.metadata ?? {};
      const metadata = { name: `e-${name}`, namespace: 'media' };
      const involvedObject = { kind, namespace: 'media', name, uid };
      return event(`pods "${name}" ${quota}`, '1', { metadata, involvedObject });
    };
    here.kube.put(about('StatefulSet', 'home-postgres'), about('Job', 'home-transcode-0'));
    await here.pass();
    expect(here.condition('TranscodeReady')).to.equal('False Refused');
    expect(here.condition('DatabaseReady')).to.equal('False Refused');
    expect(here.message('DatabaseReady')).to.contain('StatefulSet home-postgres').and.contain('exceeded quota');
    here.change({ version: '2.0.0' });
    here.kube.put({ ...set, status: { replicas: 1, readyReplicas: 1, updatedReplicas: 1 } });
    await here.pass();
    for (const part of ['-backup-', '-migrate-']) {
      const next = here.kube
        .list('Job', 'media')
        .find(({ metadata: { name }, status }) => name.includes(part) && !status);
      here.kube.put(about('Job', next?.metadata.name ?? ''));
      await here.pass();
      expect(here.condition('MigrationsApplied'), part).to.equal('False Refused');
      here.kube.play(here.now);
      await here.pass();
    }
  });
});
