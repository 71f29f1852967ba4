// An autoscaler on a server under load, with the use of CPU that the kubelet measures: pods come and go, and the operator lets it.
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { measured, UP_MS } from './support/cluster.ts';
import { type Home, startHome } from './support/home.ts';
import { until } from './support/until.ts';

const SCALE_MS = 300_000;
const CALLERS = 6;

describe('the autoscaler of a server', function () {
  this.timeout(SCALE_MS + 60_000);
  let home: Home;
  let isLoaded = false;
  let callers: Promise<void>[] = [];

  before(async function () {
    this.timeout(UP_MS);
    const resources = { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '1Gi' } };
    const api = { autoscaling: { min: 1, max: 3, targetCPU: 80 }, resources };
    home = await startHome({ name: 'autoscaled', spec: { api, transcode: { warm: 0 } } });
    await measured();
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await home?.printState();
  });
  after(async function () {
    this.timeout(UP_MS);
    isLoaded = false;
    await Promise.all(callers);
    await home?.remove();
  });

  const replicas = async (): Promise<number> => {
    const found = await home.kubectl.find<KubeObject>(home.named('deployment', 'home-api'));
    return (found?.spec as { replicas?: number } | undefined)?.replicas ?? 0;
  };

  /** Until it is stopped; a terminating pod may lose a call. */
  async function call(): Promise<void> {
    while (isLoaded) await home.owner.listLibraries().catch(() => undefined);
  }

  it('adds pods under load and removes them after it, and the operator writes nothing to the Deployment', async () => {
    await until('the autoscaler sees what pods use', async () => {
      const scaler = await home.kubectl.find<KubeObject>(home.named('hpa', 'home-api'));
      return (scaler?.status as { currentMetrics?: unknown[] } | undefined)?.currentMetrics?.length;
    });
    await until('one pod at rest', async () => (await replicas()) === 1, SCALE_MS);
    const mark = await home.cluster.audit.mark();
    isLoaded = true;
    callers = Array.from({ length: CALLERS }, call);
    await until('more pods', async () => (await replicas()) > 1, SCALE_MS);
    await until('they are ready, and counted', async () => {
      const { apiReady = '', replicas: counted = 0 } = await home.status();
      return counted > 1 && apiReady === `${counted}/${counted}`;
    });
    expect(await home.condition('Ready')).to.equal('True AllReady');
    isLoaded = false;
    await Promise.all(callers);
    await until('one pod again', async () => (await replicas()) === 1, SCALE_MS);
    await until('it is counted', async () => (await home.status()).apiReady === '1/1');
    const writes = await home.cluster.audit.writes(mark, /foyer-operator$/);
    const toDeployment = writes.filter(({ resource, name }) => resource === 'deployments' && name === 'home-api');
    expect(toDeployment).to.deep.equal([]);
  });
});
