import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { TunerDeviceSpec } from '#operator/schemas/tuner-device.ts';
import { tunerTrouble } from '#operator/tuner-device/trouble.ts';
import { PodStatus, tunerVerdicts } from '#operator/tuner-device/verdicts.ts';

const deployment = (status: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'tv-tuner' },
  status,
});
const pod = (name: string, at: string, status: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, creationTimestamp: `2026-01-01T00:00:0${at}Z` },
  status,
});
const unplaced = { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes' }] };
const now = new Date('2026-01-01T00:01:00Z');
const spec = TunerDeviceSpec.parse({ serverRef: { name: 'home' }, source: { m3u: { url: 'http://x/' } } });

describe('the pod of a tuner that is not ready', () => {
  it('that no node takes is reported as such, in the words of the scheduler', () => {
    const trouble = tunerTrouble(deployment(), [pod('a', '1', { phase: 'Running' }), pod('b', '2', unplaced)]);
    expect(trouble).to.deep.equal({ reason: 'Unschedulable', message: 'pod b is unschedulable: 0/1 nodes' });
    const [ready] = tunerVerdicts(spec, { running: false, trouble, pod: undefined, waiting: false }, now);
    expect(ready).to.include({ type: 'Ready', status: 'False', ...trouble });
  });

  it('that starts, runs unready, or is not created, is reported as that', () => {
    expect(tunerTrouble(deployment(), [pod('a', '1', { phase: 'Pending' })]).message).to.contain('pod a is Pending');
    expect(tunerTrouble(deployment(), [pod('a', '1', { phase: 'Running' })]).message).to.contain(
      'is running and not ready',
    );
    expect(tunerTrouble(undefined, [])).to.include({ reason: 'Starting' });
    const late = deployment({
      conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
    });
    const stuck = tunerTrouble(late, [pod('a', '1', { phase: 'Pending' })]);
    expect(stuck).to.include({ reason: 'ProgressDeadlineExceeded' });
    expect(stuck.message).to.contain('pod a is Pending');
    const containerStatuses = [{ restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } } }];
    expect(tunerTrouble(deployment(), [pod('a', '1', { containerStatuses })])).to.include({ reason: 'CrashLooping' });
  });

  it('that cannot be created is reported in the words of the cluster', () => {
    const conditions = [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota' }];
    const trouble = tunerTrouble(deployment({ conditions }), []);
    expect(trouble).to.deep.equal({
      reason: 'Refused',
      message: 'no pod of the tuner can be created: exceeded quota',
    });
  });

  it('that is ready and leaves a request unanswered is reported as that', () => {
    const [ready] = tunerVerdicts(spec, { running: true, trouble: undefined, pod: undefined, waiting: false }, now);
    expect(ready).to.include({
      status: 'False',
      reason: 'Starting',
      message: 'The tuner does not answer yet',
    });
  });
});

describe('the guide of a tuner', () => {
  const asking = TunerDeviceSpec.parse({
    ...{ serverRef: { name: 'home' }, source: { m3u: { url: 'http://x/' } } },
    guide: { xmltv: { url: 'http://g/' }, refresh: '0 */6 * * *' },
  });
  const guideOf = (pod: object) => {
    const answered = PodStatus.parse({ reachable: true, ...pod });
    const seen = { running: true, trouble: undefined, pod: answered, waiting: false };
    const { status, reason } = tunerVerdicts(asking, seen, now).find(({ type }) => type === 'GuideFresh') ?? {};
    return `${status} ${reason}`;
  };

  it('is reported as not read by this version, as never read, as old, and as fresh', () => {
    expect(guideOf({})).to.equal('False NotServed');
    expect(guideOf({ lastGuideRefresh: null })).to.equal('False GuideStale');
    expect(guideOf({ lastGuideRefresh: '2025-12-31T05:00:00Z' })).to.equal('False GuideStale');
    expect(guideOf({ lastGuideRefresh: '2025-12-31T23:00:00Z' })).to.equal('True GuideRefreshed');
  });
});
