import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { running } from './specs.ts';
import type { World } from './support.ts';

/** Until what was asked before does not count any more. */
const LATER_MS = 10 * 60_000;

const jobs = (here: World): KubeObject[] =>
  here.kube.list('Job', 'media').filter(({ metadata }) => metadata.name.includes('restore'));

describe('a restore in a cluster', () => {
  it('is a Job of its own while the server has one on record, and gone once it has none', async () => {
    const here = await running();
    expect(jobs(here)).to.deep.equal([]);
    here.answers.restore = 'preparing';
    await here.pass();
    const [job] = jobs(here);
    const { template } = (job?.spec ?? {}) as {
      template: {
        metadata: { labels: Record<string, string> };
        spec: { containers: { args: string[]; env: { name: string }[] }[] };
      };
    };
    expect(template.spec.containers[0]?.args).to.deep.equal(['workers/restore/main.ts']);
    const env = template.spec.containers[0]?.env.map(({ name }) => name);
    expect(env).to.include.members(['FOYER_DATABASE_URL', 'FOYER_OPERATOR_KEY_SHA256', 'FOYER_OBJECTS_URL']);
    expect(template.metadata.labels['app.kubernetes.io/component']).to.equal('restore');
    await here.pass();
    expect(jobs(here), 'it is not made again').to.have.length(1);
    here.answers.restore = 'completed';
    here.later(LATER_MS);
    await here.pass();
    expect(jobs(here)).to.deep.equal([]);
  });

  it('goes on while the server answers nothing, and is made where the server waits for it', async () => {
    const here = await running();
    here.answers.restore = 'preparing';
    await here.pass();
    here.answers.reachable = false;
    await here.pass();
    expect(jobs(here)).to.have.length(1);
    for (const { metadata } of jobs(here)) here.kube.drop('Job', metadata.name);
    here.later(LATER_MS);
    await here.pass();
    expect(jobs(here), 'nobody says that there is one').to.deep.equal([]);
    Object.assign(here.answers, { reachable: true, waitingFor: 'restore' });
    here.later(LATER_MS);
    await here.pass();
    expect(jobs(here)).to.have.length(1);
  });

  it('is made anew when its Job ended before the restore did', async () => {
    const here = await running();
    here.answers.restore = 'switching';
    await here.pass();
    const [first] = jobs(here);
    const failed = { type: 'Failed', status: 'True', lastTransitionTime: here.now.toISOString() };
    here.kube.put({ ...(first as KubeObject), status: { conditions: [failed] } });
    await here.pass();
    expect(jobs(here)).to.deep.equal([]);
    await here.pass();
    expect(jobs(here)).to.have.length(1);
  });
});
