import { execFile } from 'node:child_process';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { bareEnvironment } from '#support/processes.ts';
import { temporaryFolder } from '#support/stores.ts';
import { imageOf, jobs, running } from './specs.ts';
import type { World } from './support.ts';

const backups = (here: World): KubeObject[] =>
  here.kube
    .list('Job', 'media')
    .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'backup');
const serving = (here: World): string | undefined => imageOf(here.kube.get('Deployment', 'media', 'home-api'));
const migrating = (here: World): (string | undefined)[] => jobs(here, 'expand').map(imageOf);

const argsOf = (job: KubeObject | undefined): string[] =>
  (job?.spec as { template: { spec: { containers: { args: string[] }[] } } } | undefined)?.template.spec.containers[0]
    ?.args ?? [];

describe('the backup before an upgrade, in a cluster', () => {
  it('is the script of the image, and nothing where the image is of before there was one', async () => {
    const here = await running();
    here.change({ version: '2.0.0' });
    await here.pass();
    const [job] = backups(here);
    const run = (cwd: string): Promise<{ code: number; output: string }> =>
      new Promise((done) => {
        execFile(process.execPath, argsOf(job), { cwd, env: bareEnvironment() }, (error, out, errors) =>
          done({ code: Number(error?.code ?? 0), output: out + errors }),
        );
      });
    const now = await run('.');
    expect(now.code).to.equal(1);
    expect(now.output).to.contain('FOYER_DATABASE_URL'); // it requires variables that only a pod has
    const before = await run(temporaryFolder('older'));
    expect(before).to.deep.equal({ code: 0, output: 'this version makes no backup before an upgrade\n' });
  });

  it('comes before the migration of another version, while the version before serves', async () => {
    const here = await running();
    here.change({ version: '2.0.0' });
    await here.pass();
    const [job, ...more] = backups(here);
    expect(more).to.deep.equal([]);
    expect(imageOf(job)).to.equal('foyer:2.0.0');
    expect(argsOf(job).join()).to.contain('workers/backup/before-upgrade.ts');
    await here.pass();
    expect(migrating(here)).not.to.include('foyer:2.0.0');
    expect(serving(here)).to.equal('foyer:1.0.0');
    expect(here.condition('MigrationsApplied')).to.equal('False MigrationPending');
    expect(here.message('MigrationsApplied')).to.contain('creates the backup before the upgrade');
    expect(here.condition('Ready')).to.equal('True AllReady');

    here.kube.play(here.now, { stuck: ['migrate'] });
    await here.pass();
    expect(migrating(here)).to.include('foyer:2.0.0');
    await here.settle();
    expect(serving(here)).to.equal('foyer:2.0.0');
    expect(backups(here), 'it is not kept').to.deep.equal([]);
  });

  it('reads and writes where backups lie: outside, and on media', async () => {
    const here = await running({
      ...((await running()).server.spec as object),
      media: [{ name: 'films', persistentVolumeClaim: { claimName: 'films' } }],
    });
    here.change({ version: '2.0.0' });
    await here.pass();
    expect(JSON.stringify(backups(here)[0]?.spec)).to.contain('"claimName":"films"');
    for (const name of ['home-outside', 'home-stores'])
      expect(JSON.stringify(here.kube.get('NetworkPolicy', 'media', name)?.spec)).to.contain('"backup"');
  });

  it('that fails stops the upgrade, reports so and how to continue, and is tried again', async () => {
    const here = await running();
    here.change({ version: '2.0.0' });
    await here.pass();
    here.kube.play(here.now, { failing: ['-backup-'] });
    await here.pass();
    await here.pass();
    for (const type of ['Stalled', 'Degraded']) expect(here.condition(type)).to.equal('True BackupFailed');
    expect(here.condition('MigrationsApplied')).to.equal('False BackupFailed');
    expect(here.message('MigrationsApplied')).to.contain('foyer.media/upgrade-without-backup to 2.0.0');
    expect(here.condition('Ready')).to.equal('True AllReady');
    expect(migrating(here)).not.to.include('foyer:2.0.0');
    expect(serving(here)).to.equal('foyer:1.0.0');

    here.later(6 * 60_000);
    await here.pass();
    expect(backups(here)).to.deep.equal([]);
    await here.settle();
    expect(serving(here)).to.equal('foyer:2.0.0');
    expect(here.condition('Stalled')).to.equal('absent');
  });

  it('is left out for the version that the annotation names, and for no other', async () => {
    const here = await running();
    here.annotate({ 'foyer.media/upgrade-without-backup': '2.0.0' });
    here.change({ version: '3.0.0' });
    await here.pass();
    expect(backups(here)).to.have.length(1);
    here.change({ version: '2.0.0' });
    await here.pass();
    expect(backups(here)).to.deep.equal([]);
    expect(migrating(here)).to.include('foyer:2.0.0');
  });

  it('is not made for another environment of the same version', async () => {
    const here = await running();
    here.change({ settings: { 'server.name': 'Other' } });
    await here.pass();
    expect(backups(here)).to.deep.equal([]);
    await here.settle();
    expect(here.condition('MigrationsApplied')).to.equal('True Completed');
  });
});
