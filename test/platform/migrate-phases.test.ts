import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { insertAccount } from '#areas/accounts/public.ts';
import { connectDatabase } from '#platform/db.ts';
import { createLog } from '#platform/log.ts';
import { migrate, migrationsPending } from '#platform/migrate.ts';
import { migrations, phaseOf } from '#platform/migrations/index.ts';
import { atEnd, freePort, newDatabase } from '#support/stores.ts';

const run = promisify(execFile);

/** The output of a program that fails. */
async function failing(args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  return run(process.execPath, args, { env }).then(
    () => 'it did not fail',
    (error: Error) => error.message,
  );
}

const EXPAND = '29991231235958_toys_add';
const CONTRACT = '29991231235959_toys_drop_contract';

describe('phases of the migrations', () => {
  /** A database of before these two migrations. */
  const connect = async () => {
    const url = await newDatabase();
    const db = connectDatabase(url, createLog('silent', 'test'), { max: 2 });
    atEnd(() => db.destroy());
    migrations[EXPAND] = { up: (to) => to.schema.createTable('toys', (table) => table.integer('id')) };
    migrations[CONTRACT] = { up: (to) => to.schema.dropTable('toys') };
    return { url, db };
  };
  afterEach(() => {
    delete migrations[EXPAND];
    delete migrations[CONTRACT];
  });

  it('are known by the name', () => {
    expect(phaseOf(EXPAND)).to.equal('expand');
    expect(phaseOf(CONTRACT)).to.equal('contract');
  });

  it('expand first, and pods are ready then; contract removes later', async () => {
    const { url, db } = await connect();
    expect(await migrationsPending(db)).to.deep.equal([EXPAND]);
    expect(await migrate(url, 'expand')).to.deep.equal([EXPAND]);
    expect(await migrationsPending(db)).to.deep.equal([]);
    expect(await db.schema.hasTable('toys')).to.equal(true);
    expect(await migrate(url, 'expand')).to.deep.equal([]);
    expect(await migrate(url, 'contract')).to.deep.equal([CONTRACT]);
    expect(await db.schema.hasTable('toys')).to.equal(false);
    expect(await migrate(url)).to.deep.equal([]);
  });

  it('are both run where none is named', async () => {
    const { url } = await connect();
    expect(await migrate(url)).to.deep.equal([EXPAND, CONTRACT]);
  });
});

describe('recover-owner.ts', () => {
  const environment = (url: string) => ({
    ...process.env,
    FOYER_DATABASE_URL: url,
    FOYER_REDIS_URL: 'redis://127.0.0.1:1',
    FOYER_OBJECTS_URL: 'file:///nowhere',
    FOYER_KEYS_FILE: '/nowhere',
  });

  it('stores the hash of a token that it never learns', async () => {
    const url = await newDatabase();
    const db = connectDatabase(url, createLog('silent', 'test'), { max: 1 });
    atEnd(() => db.destroy());
    const env = environment(url);
    const hash = createHash('sha256').update('foypr_token').digest('hex');
    const failed = await failing(['api/recover-owner.ts', hash], env);
    expect(failed).to.contain('there is no owner yet');
    const { id } = await insertAccount(db, { username: 'ann', role: 'owner', passwordHash: null });
    const { stdout } = await run(process.execPath, ['api/recover-owner.ts', hash], { env });
    expect(JSON.parse(stdout)).to.have.keys('username', 'expiresAt');
    const row = await db('password_resets').where({ account_id: id }).first<{ hash: Buffer }>('hash');
    expect(row?.hash.toString('hex')).to.equal(hash);
    const other = await run(process.execPath, ['api/recover-owner.ts'], { env });
    expect(JSON.parse(other.stdout)).to.have.keys('username', 'token', 'expiresAt');
    const refused = await failing(['api/recover-owner.ts', 'no hash'], env);
    expect(refused).to.contain('invalid');
  });
});

describe('a database that is not there', () => {
  it('is waited for while it starts', async () => {
    const url = new URL(await newDatabase());
    const target = Number(url.port);
    const port = await freePort();
    const ran = migrate(Object.assign(new URL(url), { port: String(port) }).href);
    await sleep(500); // nothing listens there yet
    const door = createServer((socket) => {
      const through = connectTo(target, '127.0.0.1');
      for (const one of [socket, through]) one.on('error', () => undefined);
      socket.pipe(through).pipe(socket);
    }).listen(port, '127.0.0.1');
    await once(door, 'listening');
    expect(await ran).to.deep.equal([]);
    door.close();
  });

  it('is not waited for where the password is refused', async () => {
    const url = new URL(await newDatabase());
    url.password = 'wrong';
    const refused = await migrate(url.href).catch((error: { code?: string }) => error.code);
    expect(refused).to.equal('28P01');
  });
});
