import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { imageOf, managed, named, running } from './specs.ts';
import type { World } from './support.ts';

/** Until the earlier request does not count any more. */
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

  it('continues while the server answers nothing, and is created again when it is deleted then', async () => {
    const here = await running();
    here.answers.restore = 'preparing';
    await here.pass();
    here.answers.reachable = false;
    await here.pass();
    expect(jobs(here)).to.have.length(1);
    here.later(LATER_MS);
    for (const turn of ['once', 'twice']) {
      for (const { metadata } of jobs(here)) here.kube.drop('Job', metadata.name);
      await here.pass();
      expect(jobs(here), turn).to.have.length(1);
    }
    const [job] = jobs(here);
    here.kube.put({ ...(job as KubeObject), status: { conditions: [{ type: 'Complete', status: 'True' }] } });
    await here.pass();
    await here.pass();
    expect(jobs(here), 'it is through: there is nothing to open').to.deep.equal([]);
  });

  it('is made where the server waits for it', async () => {
    const here = await running();
    Object.assign(here.answers, { waitingFor: 'restore' });
    here.later(LATER_MS);
    await here.pass();
    expect(jobs(here)).to.have.length(1);
  });

  it('continues unchanged while the resource is faulty or another version waits for it', async () => {
    const here = await running({ ...managed, email: { secretRef: { name: 'mail' } } });
    here.answers.restore = 'switching';
    await here.pass();
    const before = jobs(here);
    here.answers.reachable = false;
    here.later(LATER_MS);
    here.kube.drop('Secret', 'mail');
    await here.pass();
    expect(here.condition('SettingsValid')).to.equal('False SecretMissing');
    expect(jobs(here)).to.deep.equal(before);
    for (const { metadata } of before) here.kube.drop('Job', metadata.name);
    await here.pass();
    expect(jobs(here).map(({ spec }) => spec)).to.deep.equal(before.map(({ spec }) => spec));

    here.kube.put(...named);
    here.change({ version: '2.0.0' });
    await here.pass();
    await here.pass();
    expect(jobs(here).map(imageOf)).to.deep.equal(['foyer:1.0.0']);
    expect(here.message('MigrationsApplied')).to.contain('restores a backup first');
    const [job] = jobs(here);
    here.kube.put({ ...(job as KubeObject), status: { conditions: [{ type: 'Complete', status: 'True' }] } });
    Object.assign(here.answers, { reachable: true, restore: 'completed' });
    await here.settle();
    expect(imageOf(here.kube.get('Deployment', 'media', 'home-api'))).to.equal('foyer:2.0.0');
    expect(jobs(here)).to.deep.equal([]);
  });

  it('is created again when its Job ended before the restore did', async () => {
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
