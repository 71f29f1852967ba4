import { createHash, randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { expect } from 'chai';
import { BackupFault } from '#platform/backup/faults.ts';
import { openObject, openPart } from '#platform/backup/part.ts';
import { openKey } from '#platform/backup/sealing.ts';
import { keptOut } from '#platform/backup/tables.ts';
import { partName } from '#platform/backup-manifest.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { copyOf, enqueueBackup, makeBackup, namesAt, placeOf, workOf } from '#support/backups.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { createBackup } from '#workers/backup/create.ts';

const PASSPHRASE = 'correct horse battery';

describe('backup.create', function () {
  this.timeout(60_000);
  let api: Api;
  let owner: Person;
  beforeEach(async () => {
    api = await startApi();
    owner = await api.given.owner();
  });

  const folder = (): string => join(new URL(api.config.objectsUrl).pathname, 'foyer-backups');
  const tables = async (): Promise<string[]> =>
    api.deps.db('pg_tables').where({ schemaname: 'public' }).orderBy('tablename').pluck('tablename');
  const rowOf = (id: string) => api.deps.db('backups').where({ id }).first<Record<string, unknown>>();
  const seal = async (passphrase: string): Promise<void> => {
    const body = { encryption: { mode: 'passphrase', passphrase } };
    expect((await api.as(owner).updateBackupSettings({ body })).status).to.equal(200);
  };
  const faultOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: unknown) => (error instanceof BackupFault ? error.code : String(error)),
    );

  it('holds every row of every table that is not kept out, under their checksums', async () => {
    const library = await givenLibrary(api.deps.db, 'movies');
    await givenItem(api.deps.db, library, { title: 'Tab\t, line\n, slash \\ and ä', top: true });
    const made = await makeBackup(api);
    const { manifest } = made;
    expect(manifest.tables.map(({ name }) => name)).to.deep.equal(
      (await tables()).filter((name) => !Object.hasOwn(keptOut, name)),
    );
    for (const { name, columns, rows } of manifest.tables) {
      const [counted] = await api.deps.db(name).count<[{ n: number }]>('* as n');
      expect(rows, name).to.equal(counted?.n);
      const copied = await copyOf(made, name);
      expect(copied.split('\n').length - 1, name).to.equal(rows);
      const { rows: known } = await api.deps.db.raw<{ rows: { name: string }[] }>(
        `select attname::text as name from pg_attribute where attrelid = ?::regclass and attnum > 0 and attgenerated = '' and not attisdropped`,
        [`public.${name}`],
      );
      expect(columns).to.have.members(known.map((column) => column.name));
    }
    expect(await copyOf(made, 'items')).to.contain('Tab\\t, line\\n, slash \\\\ and ä');
    const row = await rowOf(made.id);
    expect(row).to.include({ state: 'completed', phase: null, progress: 1, schema_version: manifest.schemaVersion });
  });

  it('names no table that another one, which is in the backup, has to refer to', async () => {
    const { rows } = await api.deps.db.raw<{ rows: { from: string; to: string }[] }>(
      `select c.conrelid::regclass::text as from, c.confrelid::regclass::text as to from pg_constraint c
        where c.contype = 'f' and exists (select from pg_attribute a
          where a.attrelid = c.conrelid and a.attnum = any(c.conkey) and a.attnotnull)`,
    );
    const dangling = rows.filter(({ from, to }) => !Object.hasOwn(keptOut, from) && Object.hasOwn(keptOut, to));
    expect(dangling).to.deep.equal([]);
    const known = new Set(await tables());
    expect(Object.keys(keptOut).filter((name) => !known.has(name))).to.deep.equal([]);
  });

  it('is of one moment, with concurrent writes, in parts that end with a row', async () => {
    const { db } = api.deps;
    await db.raw(
      `insert into settings (key, value) select 'many.' || n, to_jsonb(repeat(md5(n::text), 300)) from generate_series(1, 8000) n`,
    );
    let writing = true;
    const action = 'test.pair'; // in a table that is dumped early; its twin in one that is dumped late
    const pair = `with early as (insert into audit_log (id, action) values (?, '${action}')) insert into settings (key, value) values (?, '1')`;
    const writer = (async () => {
      for (let n = 0; writing; n += 1) await db.raw(pair, [newId(), `late.${n}`]);
    })();
    const made = await makeBackup(api);
    writing = false;
    await writer;
    const settings = made.manifest.tables.find(({ name }) => name === 'settings');
    expect(settings?.parts.length).to.be.greaterThan(1);
    for (const part of settings?.parts ?? [])
      expect((await text(await openPart(made.destination, { manifest: made.manifest, part }))).endsWith('\n')).to.equal(
        true,
      );
    const copied = await copyOf(made, 'settings');
    const late = [...copied.matchAll(/^late\.(\d+)\t/gm)].map(([, n]) => Number(n)).sort((a, b) => a - b);
    expect(late).to.deep.equal(late.map((_, at) => at));
    expect(copied.match(/^many\./gm)).to.have.length(8000);
    expect((await copyOf(made, 'audit_log')).split(action).length - 1, 'both or neither').to.equal(late.length);
  });

  it('seals parts and objects under the passphrase: no byte of them is in the clear, no other passphrase opens them', async () => {
    await seal(PASSPHRASE);
    const picture = randomBytes(200_000);
    const word = 'a word that is nowhere else';
    await api.deps.objects.put('foyer-artwork', 'pictures/one', picture);
    await api.deps.db('settings').insert({ key: 'test.word', value: JSON.stringify(word) });
    const made = await makeBackup(api);
    const { manifest, destination } = made;
    const { encryption } = manifest;
    if (!encryption) throw new Error('not sealed');
    for (const name of await namesAt(destination)) {
      const bytes = await buffer(await destination.read(name));
      expect(bytes.includes(word), name).to.equal(false);
      expect(bytes.includes(picture.subarray(1000, 1100)), name).to.equal(false);
      expect(name).to.match(/\.enc$|manifest\.json$/);
    }
    const key = await openKey(PASSPHRASE, encryption);
    expect(await copyOf(made, 'settings', key)).to.contain(word);
    const object = manifest.objects.find((one) => one.key === 'pictures/one');
    if (!object) throw new Error('no object');
    expect((await buffer(await openObject(destination, { manifest, object }, key))).equals(picture)).to.equal(true);
    expect(await faultOf(openKey('another passphrase', encryption))).to.equal('wrong-passphrase');
    expect(await faultOf(copyOf(made, 'settings'))).to.equal('wrong-passphrase');
  });

  it('shares objects: a second backup, sealed under the same passphrase or open, moves only new ones', async () => {
    const put = (key: string, size: number) => api.deps.objects.put('foyer-artwork', key, randomBytes(size));
    const twins = randomBytes(10_000);
    for (const key of ['a', 'a-twin']) await api.deps.objects.put('foyer-artwork', `pictures/${key}`, twins);
    await put('pictures/large', 5_000_000);
    const newBytes = async (): Promise<unknown> => (await rowOf((await makeBackup(api)).id))?.new_bytes;
    expect(await newBytes()).to.equal(5_010_000);
    expect(await newBytes()).to.equal(0);
    await put('pictures/b', 3000);
    expect(await newBytes()).to.equal(3000);
    await seal(PASSPHRASE);
    expect(await newBytes()).to.equal(5_013_000);
    expect(await newBytes()).to.equal(0);
    const destination = await placeOf(api);
    expect(await namesAt(destination, 'objects/')).to.have.length(6);
  });

  it('holds data that cannot be created again, and with all also data that can; faces only on request', async () => {
    const all = [
      ['foyer-artwork', 'x'],
      ['foyer-subtitles', 'fetched/x'],
      ['foyer-subtitles', 'tracks/x'],
      ['foyer-derived', 'x'],
      ['foyer-transcode', 'x'],
      ['foyer-artwork-cache', 'x'],
      ['foyer-faces', 'x'],
      ['foyer-exports', 'x'],
    ] as const;
    for (const [bucket, key] of all) await api.deps.objects.put(bucket, key, `${bucket}/${key}`);
    const held = async (objects: 'kept' | 'all'): Promise<string[]> => {
      const { manifest } = await makeBackup(api, { objects });
      return manifest.objects.map(({ bucket, key }) => `${bucket}/${key}`).sort();
    };
    expect(await held('kept')).to.deep.equal(['foyer-artwork/x', 'foyer-subtitles/fetched/x']);
    const more = ['foyer-artwork/x', 'foyer-derived/x', 'foyer-subtitles/fetched/x', 'foyer-subtitles/tracks/x'];
    expect(await held('all')).to.deep.equal(more);
    await api.as(owner).updateSettings({ body: { values: { 'backup.includeFaces': true } } });
    expect(await held('kept')).to.include('foyer-faces/x');
  });

  it('continues at its objects after its worker was lost, and begins an incomplete dump again', async () => {
    await api.deps.objects.put('foyer-artwork', 'x', 'x');
    const id = await enqueueBackup(api);
    let checkpoint: unknown = null;
    const lost = new AbortController();
    const keep = async (_db: unknown, at: unknown): Promise<void> => {
      checkpoint = structuredClone(at);
      lost.abort('stopping');
    };
    const attempt = createBackup({ backupId: id }, workOf(api, { keep, signal: lost.signal }));
    expect(
      await attempt.then(
        () => 'whole',
        () => 'lost',
      ),
    ).to.equal('lost');
    expect(await rowOf(id)).to.include({ state: 'running' });
    const destination = await placeOf(api);
    const parts = await namesAt(destination, `backups/${id}/`);
    const times = parts.map((name) => statSync(join(folder(), name)).mtimeMs);
    await createBackup({ backupId: id }, workOf(api, { checkpoint }));
    expect(await rowOf(id)).to.include({ state: 'completed' });
    expect(parts.map((name) => statSync(join(folder(), name)).mtimeMs)).to.deep.equal(times);
    expect(await namesAt(destination, `backups/${id}/`)).to.deep.equal(
      [...parts, `backups/${id}/manifest.json`].sort(),
    );

    const other = await enqueueBackup(api);
    const rest = join(folder(), 'backups', other, 'tables');
    await destination.write(`backups/${other}/tables/items.7.copy.zst`, Buffer.from('of an attempt that was killed'));
    await createBackup({ backupId: other }, workOf(api));
    expect(existsSync(join(rest, 'items.7.copy.zst'))).to.equal(false);
  });

  it('reports why it failed, leaves nothing half, and keeps the former objects', async () => {
    const good = await makeBackup(api);
    const before = await namesAt(good.destination);
    const id = await enqueueBackup(api);
    const objects = {
      ...api.deps.objects,
      list: async function* () {
        yield* [];
        throw new Error('the store burnt down');
      },
    };
    const attempt = createBackup({ backupId: id }, workOf(api, { objects: objects as never }));
    expect(
      await attempt.then(
        () => 'whole',
        (error: { code?: string }) => error.code,
      ),
    ).to.not.equal('whole');
    const row = await rowOf(id);
    expect(row?.state).to.equal('failed');
    expect(row?.error).to.have.keys('code', 'reason', 'message');
    expect((await namesAt(good.destination)).filter((name) => !name.startsWith('objects/'))).to.deep.equal(before);
  });

  it('is read as damaged or incomplete when a byte of it is another, missing or too much', async () => {
    await seal(PASSPHRASE);
    const made = await makeBackup(api);
    const { manifest, destination } = made;
    if (!manifest.encryption) throw new Error('not sealed');
    const key = await openKey(PASSPHRASE, manifest.encryption);
    const table = manifest.tables.find(({ name, rows }) => name === 'accounts' && rows > 0);
    const [part] = table?.parts ?? [];
    if (!part) throw new Error('no part');
    const path = join(folder(), partName(manifest.id, part));
    const whole = await buffer(await destination.read(partName(manifest.id, part)));
    const fault = (): Promise<string> =>
      faultOf(openPart(destination, { manifest, part }, key).then((opened) => buffer(opened)));
    expect(await fault()).to.equal('none');
    for (let at = 0; at < whole.length; at += Math.max(1, Math.floor(whole.length / 60))) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(path, bytes);
      expect(await fault(), `byte ${at}`).to.equal('damaged');
    }
    writeFileSync(path, Buffer.concat([whole, Buffer.from('x')]));
    expect(await fault()).to.equal('damaged');
    writeFileSync(path, whole);
    truncateSync(path, whole.length - 1);
    expect(await fault()).to.equal('damaged');
    rmSync(path);
    expect(await fault()).to.equal('incomplete');
    const other = { ...part, storedBytes: 100, plainBytes: 100 * 2 ** 20, sha256: createHash('sha256').digest('hex') };
    expect(await faultOf(openPart(destination, { manifest, part: other }, key))).to.equal('damaged');
  });
});
