import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { hashPassword } from '#areas/auth/public.ts';
import { Fenced } from '#platform/fence.ts';
import { enqueue } from '#platform/queue.ts';
import { openedValue, storedValue } from '#platform/settings.ts';
import { type Api, startApi } from '#support/api.ts';
import { sha256, type Written } from '#support/backup-writer.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import type { LooseDb } from '#support/loose.ts';
import { startApiProcess } from '#support/processes.ts';
import { backedUp, record, restoreHere, tableTexts, unfenced } from '#support/restoring.ts';

const PASSWORD = 'correct horse battery staple';
/** Written by the restore itself, or not of a backup. */
const OTHERS = new Set(['audit_log', 'scans', 'backups', 'jobs', 'storages', 'api_keys', 'server_state']);

describe('restoring a backup', () => {
  let api: Api;
  let db: LooseDb;
  let owner: Person;
  let written: Written;
  let atLast: Map<string, string>;
  let late: Person;
  let keyId: string;
  let itemsAtLast: number;
  let trashed: string;
  const picture = Buffer.from('a picture that somebody gave');
  const changed = Buffer.from('a picture as it was');

  before(async function () {
    this.timeout(120_000);
    api = await startApi();
    const { deps, given } = api;
    db = unfenced(api.config.databaseUrl, deps.log);
    owner = await given.owner();
    await deps
      .db('accounts')
      .where({ id: owner.accountId })
      .update({ username: 'ada', username_folded: 'ada', password_hash: await hashPassword(PASSWORD) });
    await deps.db('server_state').update({ setup_completed_at: new Date() });
    const library = await givenLibrary(deps.db, 'movies');
    for (let i = 0; i < 200; i += 1) await givenItem(deps.db, library, { title: `Tab\tand\\n ${i}` });
    trashed = await givenItem(deps.db, library, { trashed_at: new Date(0), missing_since: new Date(0) });
    await deps
      .db('settings')
      .insert({ key: 'email.smtp.password', value: storedValue('email.smtp.password', 'relay secret', deps.keys) });
    ({ keyId } = await given.key(owner, ['library:view']));
    await deps.objects.put('foyer-artwork', sha256(picture), picture);
    await deps.objects.put('foyer-subtitles', 'tracks/one/0.vtt', changed);
    let writing = true;
    const load = (async () => {
      while (writing) await givenItem(deps.db, library);
    })();
    written = await backedUp(api, {
      partBytes: 20_000,
      objects: [
        { bucket: 'foyer-artwork', key: sha256(picture), bytes: picture },
        { bucket: 'foyer-subtitles', key: 'tracks/one/0.vtt', bytes: changed },
      ],
    });
    writing = false;
    await load;
    late = await given.again(owner);
    await deps.redis.set('foyer:of-the-old-days', '1');
    await enqueue(deps.db, 'events.trim', { payload: {} });
    await deps.db('api_keys').where({ id: keyId }).update({ revoked_at: new Date() });
    await wipe();
    atLast = await tableTexts(db);
    itemsAtLast = Number((await db('items').count({ n: '*' }))[0]?.n);
    const ended = await restoreHere(api, db, written);
    expect(ended.error, JSON.stringify(ended.error)).to.equal(null);
    expect(ended.state).to.equal('completed');
  });

  /** The losses: most of the library, an account, an object, another that was overwritten. */
  const wipe = async (): Promise<void> => {
    const { deps } = api;
    await deps.db('items').delete();
    await deps.db('libraries').update({ name: 'ruined' });
    await api.given.member();
    await deps.objects.remove('foyer-artwork', [sha256(picture)]);
    await deps.objects.put('foyer-subtitles', 'tracks/one/0.vtt', 'written over');
  };

  it('holds in every table the rows of the snapshot, row by row', async () => {
    const client = new pg.Client({ connectionString: api.config.databaseUrl });
    await client.connect();
    const lines = (text: string): string[] =>
      text
        .split('\n')
        .filter((line) => line && !line.startsWith(trashed))
        .sort();
    let rows = 0;
    for (const { name, columns } of written.manifest.tables) {
      if (OTHERS.has(name)) continue;
      const list = columns.map((column) => `"${column}"`).join(', ');
      const text = (await buffer(client.query(copyTo(`copy ${name} (${list}) to stdout`)))).toString();
      expect(lines(text), name).to.deep.equal(lines(written.texts.get(name) ?? ''));
      rows += lines(text).length;
    }
    await client.end();
    expect(rows).to.be.greaterThan(200);
    expect(written.manifest.tables.length).to.be.greaterThan(40);
  });

  it('has every constraint, trigger and sequence in force again', async () => {
    const ended = await record(db);
    const schemas = ['public', `foyer_replaced_${String(ended.replaced_backup_id).replaceAll('-', '')}`];
    const [own, aside] = await Promise.all(
      schemas.map(async (schema) => {
        const found = await db.raw<{ rows: Record<string, number>[] }>(
          `select (select count(*)::int from pg_constraint where connamespace = n.oid) as constraints,
                  (select count(*)::int from pg_trigger t join pg_class c on c.oid = t.tgrelid where c.relnamespace = n.oid and tgenabled = 'O') as triggers,
                  (select count(*)::int from pg_class where relnamespace = n.oid and relkind = 'S') as sequences,
                  (select count(*)::int from pg_proc p where pronamespace = n.oid and not exists
                    (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')) as functions
             from pg_namespace n where nspname = ?`,
          [schema],
        );
        return found.rows[0];
      }),
    );
    expect(own).to.deep.equal(aside);
    expect(own?.constraints).to.be.greaterThan(50);
  });

  it('puts objects in place: missing ones and overwritten ones', async () => {
    const { objects } = api.deps;
    const text = async (bucket: 'foyer-artwork' | 'foyer-subtitles', key: string): Promise<string> =>
      Buffer.concat((await (await objects.get(bucket, key)).toArray()) as Buffer[]).toString();
    expect(await text('foyer-artwork', sha256(picture))).to.equal(picture.toString());
    expect(await text('foyer-subtitles', 'tracks/one/0.vtt')).to.equal(changed.toString());
  });

  it('admits no earlier connection: the former processes can write nothing', async () => {
    const refused = await api.deps
      .db('items')
      .update({ title: 'x' })
      .catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Fenced);
    const answer = await api.as(owner).getMe();
    expect(answer.status).to.equal(503);
    expect((answer.body as unknown as { error: { details: unknown } }).error.details).to.deep.include({
      waitingFor: 'restore',
    });
    expect(Number((await db('items').where({ title: 'x' }).count({ n: '*' }))[0]?.n)).to.equal(0);
  });

  it('ends every sign-in and drops waiting work; people sign in again, and secrets open', async function () {
    this.timeout(60_000);
    for (const table of ['sessions', 'refresh_tokens', 'webhook_deliveries', 'email_messages', 'outbox'])
      expect(Number((await db(table).count({ n: '*' }))[0]?.n), table).to.equal(0);
    const waiting = await db.raw<{ rows: { n: number }[] }>(
      `select count(*)::int as n from graphile_worker.jobs where task_identifier <> 'foyer.scan'`,
    );
    expect(waiting.rows[0]?.n).to.equal(0);
    const { url } = await startApiProcess(api);
    for (const { headers } of [owner, late])
      expect((await fetch(`${url}/api/v1/auth/me`, { headers })).status).to.equal(401);
    const signedIn = await fetch(`${url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-client-id': 'restored-browser', 'x-client-name': 'test' },
      body: JSON.stringify({ username: 'ada', password: PASSWORD }),
    });
    expect(signedIn.status, await signedIn.clone().text()).to.equal(200);
    const [saved] = await db('settings').where({ key: 'email.smtp.password' }).pluck<string[]>('value');
    expect(openedValue('email.smtp.password', saved, api.deps.keys)).to.equal('relay secret');
    expect(await api.deps.redis.get('foyer:of-the-old-days')).to.equal(null);
  });

  it('keeps later revocations revoked, begins its clocks now, and scans every library', async () => {
    const [key] = await db('api_keys').where({ id: keyId }).select('revoked_at');
    expect(key?.revoked_at).to.be.instanceOf(Date);
    const [clocks] = await db('items')
      .whereNotNull('trashed_at')
      .select<{ trashed_at: Date; missing_since: Date }[]>('trashed_at', 'missing_since');
    expect(clocks?.trashed_at.getTime()).to.be.greaterThan(Date.now() - 600_000);
    expect(clocks?.missing_since.getTime()).to.be.greaterThan(Date.now() - 600_000);
    const scans = await db('scans').where({ state: 'queued', mode: 'quick' }).pluck('library_id');
    expect(scans).to.have.length(Number((await db('libraries').count({ n: '*' }))[0]?.n));
  });

  it('keeps the database that it replaced for seven days, whole, and goes back to it', async function () {
    this.timeout(120_000);
    const ended = await record(db);
    const replaced = await db('backups')
      .where({ id: ended.replaced_backup_id as string })
      .first<Record<string, unknown>>();
    expect(replaced).to.deep.include({ state: 'replaced', trigger: 'before-restore' });
    const days = ((replaced.keep_until as Date).getTime() - Date.now()) / 86_400_000;
    expect(days).to.be.within(6.9, 7);
    const schema = `foyer_replaced_${String(ended.replaced_backup_id).replaceAll('-', '')}`;
    const aside = await tableTexts(db, schema);
    for (const [name, text] of atLast)
      if (!['jobs', 'job_counts', 'outbox', 'events'].includes(name)) expect(aside.get(name), name).to.equal(text);
    const { config, keys, objects, redis, log } = api.deps;
    const { putRestore } = await import('#areas/backup/restore/restores.store.ts');
    const { restoreOnRecord } = await import('#workers/restore/restore.ts');
    await putRestore(db, keys, {
      backupId: String(replaced.id),
      manifestSha256: null,
      passphrase: undefined,
      accountId: owner.accountId,
    });
    await restoreOnRecord({ config, keys, objects, redis, log, sourceOf: async () => undefined });
    expect(await record(db)).to.deep.include({ state: 'completed', error: null });
    expect(Number((await db('items').count({ n: '*' }))[0]?.n)).to.equal(itemsAtLast);
    expect((await db('libraries').pluck('name')).every((name) => name === 'ruined')).to.equal(true);
    expect(Number((await db('sessions').count({ n: '*' }))[0]?.n), 'sign-ins are over again').to.equal(0);
    expect(await db('backups').where({ id: replaced.id as string })).to.deep.equal([]);
    const { rows } = await db.raw<{ rows: { name: string }[] }>(
      `select nspname as name from pg_namespace where nspname like 'foyer\\_re%' order by 1`,
    );
    expect(rows.map(({ name }) => name)).to.have.length(2); // the record, and the objects put aside now
  });
});
