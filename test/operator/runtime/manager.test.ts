import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Credentials } from '#operator/runtime/credentials.ts';
import { Deposed } from '#operator/runtime/faults.ts';
import { done, type Kube, type KubeObject } from '#operator/runtime/kube.ts';
import { newLog } from '#operator/runtime/log.ts';
import { Manager } from '#operator/runtime/manager.ts';
import { FakeApiServer } from './fake-api-server.ts';

describe('an operator that is stopped', () => {
  let server: FakeApiServer;
  const stopping = { now: new AbortController() };

  beforeEach(async () => {
    server = await new FakeApiServer().start();
    stopping.now = new AbortController();
  });
  afterEach(() => server.stop());

  /** Its one pass does this; ends when the operator has. */
  async function running(pass: (object: KubeObject, kube: Kube) => Promise<unknown>) {
    const began = Promise.withResolvers<void>();
    server.set('x', {});
    const manager = new Manager({
      credentials: new Credentials(server.kubeconfig()),
      controllers: [
        {
          kind: 'ConfigMap',
          watches: [{ apiVersion: 'v1', kind: 'ConfigMap' }],
          async reconcile({ namespace, name }, kube) {
            const object = kube.get('ConfigMap', namespace, name);
            began.resolve();
            if (object) await pass(object, kube);
            return done;
          },
        },
      ],
      log: newLog('silent'),
    });
    const ended = manager.run(stopping.now.signal);
    await began.promise;
    return ended;
  }

  it('waits for no pass, and no pass writes any more', async () => {
    const gate = Promise.withResolvers<void>();
    const fault = Promise.withResolvers<unknown>();
    const ended = running(async (object, kube) => {
      stopping.now.abort();
      await gate.promise; // a server that does not answer
      await kube.applyStatus(object, { items: 1 }).then(() => fault.resolve('written'), fault.resolve);
    });
    expect(await ended).to.equal(true);
    gate.resolve();
    expect(await fault.promise).to.be.instanceOf(Deposed);
    expect(server.count(/^PATCH/)).to.equal(0);
  });

  it('waits for the write that it has sent', async () => {
    const answered = Promise.withResolvers<void>();
    server.slow = answered.promise;
    const ended = running((object, kube) => kube.applyStatus(object, { items: 1 }));
    const is = { over: false };
    void ended.then(() => {
      is.over = true;
    });
    while (server.count(/^PATCH/) === 0) await sleep(10);
    stopping.now.abort();
    await sleep(200);
    expect(is.over).to.equal(false);
    answered.resolve();
    expect(await ended).to.equal(true);
  });
});
