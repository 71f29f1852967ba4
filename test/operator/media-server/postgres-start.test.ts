// The step in the image of Postgres before the store starts, with a real initdb and the entrypoint of hack/image.
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type PostgresHome, preparePostgres } from '#operator/local/postgres.ts';
import { temporaryFolder } from '../../support/stores.ts';
import { running, specOf } from './specs.ts';

const ENTRYPOINT = new URL('../../../hack/images/postgres-entrypoint.sh', import.meta.url).pathname;

interface Container {
  command: string[];
  env: { name: string; value?: string }[];
}

describe('the init container of a managed Postgres', () => {
  let home: PostgresHome;
  let script = '';
  let initdbArgs = '';
  let volume = '';

  before(async function () {
    this.timeout(60_000);
    const dir = temporaryFolder('postgres-start');
    home = await preparePostgres({ dir, id: 'postgres-start', password: 'first' });
    const { template } = specOf(await running(), 'StatefulSet', 'home-postgres') as {
      template: { spec: { initContainers: Container[] } };
    };
    const [container] = template.spec.initContainers;
    script = container?.command[2] ?? '';
    initdbArgs = container?.env.find(({ name }) => name === 'POSTGRES_INITDB_ARGS')?.value ?? '';
  });
  beforeEach(() => {
    volume = mkdtempSync(join(home.dataDir, '..', 'volume-'));
    own(volume);
  });

  const own = (path: string): void => {
    if (home.user) chownSync(path, home.user.uid, home.user.gid);
  };
  const data = (...path: string[]): string => join(volume, 'pgdata', ...path);
  /** A command in the pod, as the user of Postgres. */
  const run = (command: string, input = ''): { status: number | null; output: string } => {
    const env = {
      PATH: `${home.bin}:/usr/bin:/bin`,
      PGDATA: data(),
      POSTGRES_DB: 'foyer',
      POSTGRES_USER: 'foyer',
      POSTGRES_PASSWORD: 'second',
      POSTGRES_INITDB_ARGS: initdbArgs,
    };
    const ended = spawnSync('sh', ['-c', command], { env, input, cwd: volume, encoding: 'utf8', ...home.user });
    return { status: ended.status, output: ended.stdout + ended.stderr };
  };
  const prepare = () => run(script.replaceAll('/tmp/password.log', join(volume, 'password.log')));
  /** Without the start of the server after it. */
  const makeCluster = () => run(`sh '${ENTRYPOINT}' postgres --version`);
  /** A folder in which initdb began. */
  const begin = (...folders: string[]): void => {
    for (const folder of ['', 'base', 'base/1', ...folders]) {
      mkdirSync(data(folder), { mode: 0o700 });
      own(data(folder));
    }
    writeFileSync(data('PG_VERSION'), '18\n');
    own(data('PG_VERSION'));
  };
  const mark = (): string => join(volume, '.initialising');

  it('marks a cluster that begins, and sets the password once it is whole', () => {
    expect(prepare()).to.deep.equal({ status: 0, output: '' });
    expect(readdirSync(volume)).to.deep.equal(['.initialising']);
    expect(makeCluster().status).to.equal(0);
    expect(prepare()).to.deep.equal({ status: 0, output: '' });
    expect(existsSync(mark())).to.equal(false);
    expect(existsSync(data('PG_VERSION'))).to.equal(true);
  }).timeout(60_000);

  it('puts a cluster aside that ended before its database was made, and deletes nothing', () => {
    prepare();
    expect(run(`initdb --username=foyer ${initdbArgs}`).status).to.equal(0);
    const collations = run(
      'postgres --single -D "$PGDATA" template1',
      'select datlocprovider, datlocale from pg_database',
    );
    expect(collations.output).to.contain('datlocprovider = "b"').and.to.contain('datlocale = "C.UTF-8"');
    expect(collations.output).not.to.contain('datlocprovider = "c"');
    const { status, output } = prepare();
    expect(status, output).to.equal(0);
    expect(output).to.contain(`${data()}.unfinished-1`);
    expect(readFileSync(`${data()}.unfinished-1/PG_VERSION`, 'utf8')).to.equal('18\n');
    expect(existsSync(data())).to.equal(false);
    expect(makeCluster().status).to.equal(0);
    expect(prepare()).to.deep.equal({ status: 0, output: '' });
    expect(existsSync(mark())).to.equal(false);
  }).timeout(60_000);

  it('puts each cluster aside whose initdb was killed', () => {
    for (const count of [1, 2]) {
      prepare();
      begin();
      expect(prepare().status).to.equal(0);
      expect(existsSync(`${data()}.unfinished-${count}`)).to.equal(true);
    }
  });

  for (const [what, arrange] of Object.entries({
    'that it did not see begin': () => begin(),
    'with the database of a user': () => {
      prepare();
      begin('base/16384');
    },
    'with a tablespace': () => {
      prepare();
      begin('pg_tblspc', 'pg_tblspc/16385');
    },
  }))
    it(`leaves a broken cluster where it is, and reports so: ${what}`, () => {
      arrange();
      const before = readdirSync(data());
      const { status, output } = prepare();
      expect(status).to.equal(1);
      expect(output).to.contain(`${data()} was left as it is`);
      expect(readdirSync(data())).to.deep.equal(before);
    });

  it('does not mark a folder that holds something', () => {
    mkdirSync(data('base'), { recursive: true });
    own(data());
    own(data('base'));
    expect(prepare().status).to.equal(0);
    expect(existsSync(mark())).to.equal(false);
  });

  it('leaves a state that the entrypoint of hack/image continues by itself', () => {
    prepare();
    begin('.new');
    run('rm "$PGDATA/PG_VERSION"');
    expect(prepare().status).to.equal(0);
    expect(makeCluster().status).to.equal(0);
    expect(prepare()).to.deep.equal({ status: 0, output: '' });
  }).timeout(60_000);
});
