import { expect } from 'chai';
import { reconcileMediaServer } from '#operator/media-server/reconcile.ts';
import { OWNER } from '#operator/runtime/kube.ts';
import { running } from './specs.ts';

describe('a second operator on the same MediaServer', () => {
  it('keeps objects of the first one that were created while this one waited for the server', async () => {
    const here = await running();
    const { uid = '' } = here.server.metadata;
    const labels = { [OWNER]: uid };
    const metadata = { name: 'home-migrate-next', namespace: 'media', uid: 'of the first', labels };
    const { connect } = here.tools;
    here.tools.connect = (server, key) => {
      here.kube.put({ apiVersion: 'batch/v1', kind: 'Job', metadata });
      return connect(server, key);
    };
    here.later(30_000);
    const given = { now: here.now, tools: here.tools };
    await reconcileMediaServer({ namespace: 'media', name: 'home' }, here.kube, given);
    expect(here.kube.get('Job', 'media', 'home-migrate-next')).to.not.equal(undefined);
  });
});
