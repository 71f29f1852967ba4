// A household on one machine gets the next version as its people would install it: the clone changes, and hack/start is run again.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import { postgresUrl } from '#operator/local/postgres.ts';
import { clientFor, type TestClient } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { fixtures } from '../../hack/fixtures/index.ts';
import { play } from '../real/frames.ts';
import { setUp } from '../real/household.ts';

const { version: NOW } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const MIGRATIONS = 'api/platform/migrations/index.ts';
const PATIENCE_MS = 180_000;
/** The first is watched to its end, in the second a place is kept. */
const FILMS = { 'Trailer Park (2001).mp4': 'bbb_trailer_720p.mp4', 'Big Buck Bunny (2008).mp4': 'bbb_full_720p.mp4' };

/** Expands as a real one would: a column with a default, filled from existing data. */
const adds = (column: string, at: string): string => `
migrations['${at}_${column}_add'] = { up: async (knex) => {
  await knex.schema.alterTable('items', (table) => void table.text('${column}').notNullable().defaultTo(''));
  await knex('items').update('${column}', knex.ref('title'));
} };
`;
const NEXT = { version: '99.0.0', code: adds('next_title', '29991231235950') };
const LATER = { version: '99.1.0', code: NEXT.code + adds('later_title', '29991231235951') };
const LAST = { version: '99.2.0', code: LATER.code + adds('last_title', '29991231235952') };
const BEFORE = { version: NOW, code: '' };
type Release = typeof NEXT;

describe('a household that is given the next version', function () {
  this.timeout(2 * PATIENCE_MS);
  const folder = mkdtempSync(join(tmpdir(), 'foyer-upgrade-'));
  const tree = join(folder, 'foyer');
  const data = join(tree, 'data');
  const media = join(folder, 'media');
  const migrations = readFileSync(MIGRATIONS, 'utf8');
  let start: ChildProcess | undefined;
  let printed = '';
  let url = '';
  let headers: Record<string, string> = {};
  let trailer = '';
  let film = '';

  const owner = (): TestClient => clientFor(url, headers);
  const install = ({ version, code }: Release): void => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as object;
    writeFileSync(join(tree, 'package.json'), JSON.stringify({ ...manifest, version }, null, 2));
    writeFileSync(join(tree, MIGRATIONS), migrations + code);
  };
  const run = (): void => {
    printed = '';
    const env = { ...process.env, FOYER_MEDIA: media };
    const child = spawn(join(tree, 'hack', 'start'), ['--port', '0'], { cwd: folder, env });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)));
    start = child;
  };
  const says = (pattern: RegExp): Promise<RegExpExecArray> =>
    eventually(() => pattern.exec(printed) ?? undefined, PATIENCE_MS).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${pattern}\n${printed}`);
    });
  const ready = async (): Promise<void> => {
    [, url = ''] = await says(/^ready (\S+)$/m);
  };
  const stop = async (): Promise<void> => {
    if (!start || start.exitCode !== null || start.signalCode !== null) return;
    start.kill('SIGTERM');
    await once(start, 'exit');
    expect(start.exitCode, printed).to.equal(0);
  };
  const restart = async (release: Release): Promise<void> => {
    await stop();
    install(release);
    run();
    await ready();
  };

  const status = async (): Promise<Record<string, string>> => {
    const args = ['operator/main.ts', 'local', 'status', '--data', data, '-o', 'json'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: tree });
    const { items } = JSON.parse(stdout) as {
      items: { kind: string; status: { version?: string; conditions: Record<string, string>[] } }[];
    };
    const { conditions = [], version = '' } = items.find(({ kind }) => kind === 'MediaServer')?.status ?? {};
    return {
      version,
      ...Object.fromEntries(conditions.map(({ type, status: is, reason }) => [type, `${is} ${reason}`])),
    };
  };
  const reaches = (wanted: Record<string, string>): Promise<unknown> =>
    eventually(async () => {
      const found = await status();
      return Object.entries(wanted).every(([type, value]) => found[type] === value) || undefined;
    }, PATIENCE_MS).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${JSON.stringify(await status())}\n${printed}`);
    });

  /** While the database runs. */
  const query = async <T>(text: string): Promise<T[]> => {
    const { ports, databasePassword } = JSON.parse(readFileSync(join(data, 'state.json'), 'utf8')) as {
      ports: { postgres: number };
      databasePassword: string;
    };
    const client = new pg.Client({ connectionString: postgresUrl(ports.postgres, databasePassword) });
    await client.connect();
    try {
      return (await client.query(text)).rows as T[];
    } finally {
      await client.end();
    }
  };
  const columns = async (): Promise<string[]> => {
    const text = `select column_name from information_schema.columns where table_name = 'items' and column_name ~ '_title$'`;
    return (await query<{ column_name: string }>(text)).map(({ column_name }) => column_name).sort();
  };

  const place = join(data, 'objects', 'foyer-backups', 'backups');
  const removeFolder = (): void => {
    renameSync(place, `${place}.away`);
    writeFileSync(place, 'no folder');
  };
  const bringBack = (): void => {
    rmSync(place);
    renameSync(`${place}.away`, place);
  };

  const madeBefore = async () => {
    const { body } = await owner().listBackups({ query: { trigger: 'before-upgrade' } });
    return body.items.map(({ state, serverVersion }) => [state, serverVersion]);
  };

  /** The data of the people, as the server returns it. */
  const kept = async () => {
    const [users, libraries, item, progress] = await Promise.all([
      owner().listUsers({}),
      owner().listLibraries(),
      owner().getItem({ params: { id: film } }),
      owner().getItemProgress({ params: { id: film } }),
    ]);
    expect([users, libraries, item, progress].map((answer) => answer.status)).to.deep.equal([200, 200, 200, 200]);
    return {
      users: users.body.items.map(({ id, username }) => `${id} ${username}`).sort(),
      libraries: libraries.body.map(({ id, name }) => [id, name]),
      item: [item.body.id, item.body.title, item.body.addedAt],
      positionMs: progress.body.positionMs,
    };
  };
  const watch = async (positionMs: number): Promise<void> => {
    const { body, status: started } = await owner().startPlayback({
      params: { id: trailer },
      body: { client: { builtIn: 'hls' }, startMs: 0 },
    });
    expect(started, JSON.stringify(body)).to.equal(201);
    const { video, words } = await play({ url: url + body.session.url, headers });
    expect(words).to.equal('');
    expect(video.length).to.be.greaterThan(700);
    await owner().endPlaybackSession({ params: { id: body.session.id } });
    expect((await owner().setItemProgress({ params: { id: film }, body: { positionMs } })).status).to.equal(200);
  };

  before(async () => {
    chmodSync(folder, 0o711);
    mkdirSync(join(media, 'movies'), { recursive: true });
    const { real } = await fixtures();
    for (const [name, from] of Object.entries(FILMS))
      copyFileSync(join(real, 'video', from), join(media, 'movies', name));
    mkdirSync(tree);
    for (const part of ['package-lock.json', 'api', 'workers', 'operator', 'hack', 'manifests'])
      cpSync(part, join(tree, part), { recursive: true });
    cpSync('web', join(tree, 'web'), { recursive: true, filter: (path) => !path.endsWith('node_modules') }); // with its build
    symlinkSync(resolve('node_modules'), join(tree, 'node_modules'));
    install(BEFORE);
    run();
    await ready();
    const [, claim = ''] = await says(/#claim=(\S+)$/m);
    headers = await setUp(url, claim);
    const library = await eventually(async () => (await owner().listLibraries()).body[0], PATIENCE_MS);
    const items = await eventually(async () => {
      const { body } = await owner().listLibraryItems({ params: { id: library.id } });
      return body.items.length === 2 && body.items;
    }, PATIENCE_MS);
    [film = '', trailer = ''] = ['Big Buck Bunny', 'Trailer Park'].map(
      (wanted) => items.find(({ title }) => title === wanted)?.id ?? '',
    );
    await owner().createUser({ body: { username: 'mia', password: 'another good one', role: 'member' } });
    await watch(112_000);
  });
  after(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has a backup made, is migrated, and finds all as it was', async () => {
    const before = await kept();
    await restart(NEXT);
    expect(printed.trim().split('\n')).to.deep.equal([
      'creating a backup before the database is migrated',
      `ready ${url}`,
    ]);
    expect(await columns()).to.include('next_title');
    expect(await kept()).to.deep.equal(before);
    expect(await madeBefore()).to.deep.equal([['completed', NOW]]);
    await reaches({ version: NEXT.version, Ready: 'True AllReady', Degraded: 'False AllReady' });
    await watch(115_000);
  });

  it('returns to the former version, which can read the rows of the next one', async () => {
    await owner().createUser({ body: { username: 'noa', password: 'another good one', role: 'member' } });
    const before = await kept();
    await restart(BEFORE);
    expect(printed.trim()).to.equal(`ready ${url}`);
    expect(await kept()).to.deep.equal(before);
    await reaches({ version: NOW, Ready: 'True AllReady', Degraded: 'False AllReady' });
    await watch(118_000);
    const later = await kept();
    await restart(NEXT);
    expect(printed.trim(), 'nothing is to be migrated').to.equal(`ready ${url}`);
    expect(await kept()).to.deep.equal(later);
  });

  it('stays as it was where the backup fails, and prints how to continue', async () => {
    const before = await kept();
    await stop();
    removeFolder();
    install(LATER);
    run();
    const [line] = await says(/^the backup before the upgrade failed.*$/m);
    expect(line).to.contain(
      `foyer.media/upgrade-without-backup: ${LATER.version} of MediaServer home in foyer/data/home.yaml`,
    );
    expect(line).to.contain(join(data, 'logs', 'backup.log'));
    expect(readFileSync(join(data, 'logs', 'backup.log'), 'utf8')).to.contain('ENOTDIR');
    await reaches({ Ready: 'False BackupFailed', MigrationsApplied: 'False BackupFailed' });
    expect(printed).not.to.match(/^ready/m);
    expect(await columns()).not.to.include('later_title');

    await restart(NEXT); // people watch their film now
    expect(await kept()).to.deep.equal(before);
    await watch(121_000);

    await stop();
    bringBack();
    await restart(LATER);
    expect(await columns()).to.include('later_title');
    expect(await madeBefore()).to.deep.include(['completed', NEXT.version]);
    expect(await kept()).to.include({ positionMs: 121_000 });
  });

  it('continues without a backup where the file of the start says so', async () => {
    await stop();
    removeFolder();
    install(LAST);
    run();
    await says(/^the backup before the upgrade failed/m);
    const resources = join(data, 'home.yaml');
    const note = `  annotations:\n    foyer.media/upgrade-without-backup: ${LAST.version}\n`;
    writeFileSync(resources, readFileSync(resources, 'utf8').replace('  name: home\n', `  name: home\n${note}`));
    await ready();
    expect(await columns()).to.include('last_title');
    expect(await kept()).to.include({ positionMs: 121_000 });
  });
});
