import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { expect } from 'chai';
import { BackupFault } from '#platform/backup/faults.ts';
import { readManifest } from '#platform/backup/part.ts';
import { type BackupManifest, manifestName, manifestText, partName } from '#platform/backup-manifest.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { sha256, type Written } from '#support/backup-writer.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import type { LooseDb } from '#support/loose.ts';
import {
  addRow,
  backedUp,
  record,
  requestRestore,
  restoreHere,
  restoreProcess,
  tableTexts,
  unfenced,
} from '#support/restoring.ts';

const MOST_MIB = 256;
const FLIPS = 500;
/** The record of the attempt. */
const RECORDS = new Set(['jobs', 'job_counts', 'backups', 'outbox', 'events', 'rights_told']);

describe('restoring a backup that is not as it was made', () => {
  let api: Api;
  let db: LooseDb;
  let written: Written;
  let before: string;

  const standing = async (): Promise<string> => {
    const texts = await tableTexts(db);
    for (const name of RECORDS) texts.delete(name);
    const { rows } = await db.raw<{ rows: object[] }>(
      `select number, closed, (select count(*)::int from pg_namespace where nspname in ('foyer_restoring') or nspname like 'foyer\\_replaced%') as schemas
         from foyer_restore.epoch`,
    );
    return JSON.stringify([[...texts], rows]);
  };

  beforeEach(async function () {
    this.timeout(60_000);
    if (before) return;
    api = await startApi();
    db = unfenced(api.config.databaseUrl, api.deps.log);
    await api.given.owner();
    const library = await givenLibrary(api.deps.db, 'movies');
    for (let i = 0; i < 50; i += 1) await givenItem(api.deps.db, library);
    const bytes = Buffer.from('a picture');
    written = await backedUp(api, {
      partBytes: 8000,
      objects: [{ bucket: 'foyer-artwork', key: sha256(bytes), bytes }],
    });
    before = await standing();
  });

  /** Requests it as the endpoint does, in this process; returns the failure. */
  const refusal = async (made: Written): Promise<string | undefined> => {
    const ended = await restoreHere(api, db, made);
    await db('jobs').delete();
    return (ended.error as { reason: string } | null)?.reason;
  };
  const at = (name: string): string => join(written.folder, name);

  /** The same backup under another id, with a manifest of its own. */
  const forged = async (change: (manifest: BackupManifest) => void): Promise<Written> => {
    const manifest = structuredClone(written.manifest);
    change(manifest);
    return { ...written, manifest };
  };

  it(`refuses ${FLIPS} flips of a bit, wherever it is, and changes nothing`, async function () {
    this.timeout(600_000);
    const parts = written.manifest.tables.flatMap((table) =>
      table.parts.map((part) => partName(written.manifest.id, part)),
    );
    const names = [manifestName(written.manifest.id), ...parts];
    const files = names.map((name) => ({ name, bytes: readFileSync(at(name)) }));
    const all = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
    let refused = 0;
    for (let i = 0; i < FLIPS; i += 1) {
      let place = Math.floor((i / FLIPS) * all);
      const file = files.find(({ bytes }) => {
        if (place < bytes.length) return true;
        place -= bytes.length;
        return false;
      });
      if (!file) throw new Error('no file');
      const flipped = Buffer.from(file.bytes);
      flipped[place] = (flipped[place] ?? 0) ^ (1 << (i % 8));
      writeFileSync(at(file.name), flipped);
      const manifest = await readManifest(written.destination, written.manifest.id).catch((error: unknown) => error);
      const isFault = manifest instanceof BackupFault;
      if (isFault || (await refusal({ ...written, manifest: manifest as BackupManifest }))) refused += 1;
      writeFileSync(at(file.name), file.bytes);
    }
    expect(refused).to.equal(FLIPS);
    expect(await standing()).to.equal(before);
  });

  it('refuses a part or an object that is cut off or gone', async function () {
    this.timeout(120_000);
    const [part] = written.manifest.tables.find(({ name }) => name === 'items')?.parts ?? [];
    const name = at(partName(written.manifest.id, part ?? { name: '' }));
    const bytes = readFileSync(name);
    for (const cut of [0, 1, bytes.length - 1]) {
      writeFileSync(name, bytes.subarray(0, cut));
      expect(await refusal(written), `${cut} bytes`).to.equal('damaged');
    }
    writeFileSync(name, bytes);
    const gone = await forged((manifest) => {
      manifest.objects = [{ bucket: 'foyer-artwork', key: 'x', sha256: 'a'.repeat(64), bytes: 1 }];
    });
    expect(await refusal(gone)).to.equal('incomplete');
    expect(await standing()).to.equal(before);
  });

  it('takes no name, table, column or bucket of its own choosing', async function () {
    this.timeout(120_000);
    const slips: [string, (manifest: BackupManifest) => void][] = [
      ['a table that is never in one', ({ tables: [first] }) => Object.assign(first ?? {}, { name: 'sessions' })],
      ['a table of Postgres', ({ tables: [first] }) => Object.assign(first ?? {}, { name: 'pg_authid' })],
      ['a column that is not there', ({ tables: [first] }) => first?.columns.splice(0, 1, 'nothing')],
      ['a bucket of backups', (manifest) => Object.assign(manifest.objects[0] ?? {}, { bucket: 'foyer-backups' })],
      ['the same table twice', ({ tables }) => tables.push(structuredClone(tables[0] as (typeof tables)[number]))],
      ['a sequence that is not there', ({ sequences }) => sequences.push({ name: 'nothing', value: '1' })],
    ];
    for (const [what, change] of slips) expect(await refusal(await forged(change)), what).to.equal('damaged');
    const paths = ['../../etc/passwd', '/etc/passwd', 'tables/../x.0.copy.zst', 'tables/items.0.copy.zst/../../x'];
    for (const path of paths) {
      const { manifest } = await forged(({ tables }) => Object.assign(tables[0]?.parts[0] ?? {}, { name: path }));
      writeFileSync(at(manifestName(manifest.id)), manifestText(manifest));
      const fault = await readManifest(written.destination, manifest.id).catch((error: unknown) => error);
      expect(fault, path).to.be.instanceOf(BackupFault);
    }
    writeFileSync(at(manifestName(written.manifest.id)), manifestText(written.manifest));
    expect(await standing()).to.equal(before);
  });

  it(`refuses bombs within ${MOST_MIB} MiB of memory`, async function () {
    this.timeout(240_000);
    const bomb = zstdCompressSync(Buffer.alloc(512 * 2 ** 20));
    const sizes = [512 * 2 ** 20, 1000]; // it reports its fault itself, or prints little
    for (const plainBytes of sizes) {
      const id = newId();
      const manifest = structuredClone({ ...written.manifest, id });
      const [table] = manifest.tables;
      const part = {
        name: `tables/${table?.name}.0.copy.zst`,
        sha256: sha256(bomb),
        storedBytes: bomb.length,
        plainBytes,
      };
      Object.assign(table ?? {}, { parts: [part] });
      await written.destination.write(partName(id, part), bomb);
      await written.destination.write(manifestName(id), manifestText(manifest));
      await addRow(db, manifest);
      await requestRestore(api, db, { backupId: id, manifest });
      const process = restoreProcess(api);
      expect(await process.ended).to.equal(0);
      expect((await record(db)).error).to.deep.include({ reason: 'damaged' });
      expect(process.mostKiB() / 1024).to.be.within(20, MOST_MIB);
      await db('jobs').delete();
    }
    await db('backups').whereNot({ id: written.manifest.id }).delete();
    expect(await standing()).to.equal(before);
  });
});
