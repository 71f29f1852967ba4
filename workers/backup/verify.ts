import {
  type BackupRow,
  findPlace,
  openPlace,
  passphraseOf,
  readBackupSettings,
  recordUnavailable,
  updateBackup,
  verifyPlace,
} from '#areas/backup/public.ts';
import { DestinationUnavailable } from '#platform/backup/destination.ts';
import { BackupFault } from '#platform/backup/faults.ts';
import { openObject, openPart, readManifest } from '#platform/backup/part.ts';
import { type BackupKey, openKey } from '#platform/backup/sealing.ts';
import { type BackupManifest, objectName } from '#platform/backup-manifest.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { type Keys, ringOf, unseal } from '#platform/keys.ts';
import { migrations } from '#platform/migrations/index.ts';
import { connectRestore, holdAlone } from '#workers/restore/connection.ts';
import { loadTables, type Source } from '#workers/restore/load.ts';
import { FinalFailure, Postponed, type Work } from '#workers/work.ts';
import { dropSecondSchema, makeSecondSchema } from '../restore/second-schema.ts';

const MOST_PROBLEMS = 50;
const AGAIN_MS = 30_000;

type Payload = JobPayload<'backup.verify'>;

interface Problem {
  code: string;
  name: string;
}

/**
 * Job backup.verify: reads every part and object; with `load` also loads the dump into a second schema and counts its
 * rows.
 */
export async function verifyBackup(payload: Payload, work: Work): Promise<{ ok: boolean } | undefined> {
  const row = await work.db('backups').where({ id: payload.backupId }).first();
  if (!row) return undefined;
  const began = performance.now();
  const verifying = new Verifying(work, row, payload);
  try {
    await verifying.run();
  } catch (error) {
    if (error instanceof DestinationUnavailable) await recordUnavailable(work.db, row.place_id, error);
    throw error;
  }
  const { problems, objects, tables } = verifying;
  const ok = problems.length === 0;
  const verification = {
    at: new Date().toISOString(),
    ok,
    depth: payload.depth,
    ...(tables && { tables }),
    objects,
    tookMs: Math.round(performance.now() - began),
    problems: problems.slice(0, MOST_PROBLEMS),
  };
  const fault = problems.some(({ code }) => code === 'incomplete') ? 'incomplete' : 'damaged';
  await updateBackup(work.db, row.id, {
    state: ok ? 'verified' : 'damaged',
    fault: ok ? null : fault,
    verification: JSON.stringify(verification),
  });
  return { ok };
}

class Verifying {
  readonly problems: Problem[] = [];
  readonly objects = { checked: 0, missing: 0, differing: 0 };
  tables: { checked: number; rows: number } | undefined;
  readonly #work: Work;
  readonly #row: BackupRow;
  readonly #payload: Payload;

  constructor(work: Work, row: BackupRow, payload: Payload) {
    this.#work = work;
    this.#row = row;
    this.#payload = payload;
  }

  async run(): Promise<void> {
    const source = await this.#open();
    if (!source) return;
    for (const table of source.manifest.tables) {
      for (const part of table.parts)
        await this.#judge(part.name, () =>
          openPart(source.destination, { manifest: source.manifest, part }, source.key),
        );
    }
    await this.#readObjects(source);
    if (this.#payload.depth === 'load' && this.problems.length === 0) await this.#load(source);
  }

  /** Undefined if nothing can be read; a wrong passphrase ends the job. */
  async #open(): Promise<Source | undefined> {
    const { db, config, objects } = this.#work;
    const keys = await ringOf(config.keysFile);
    const destination = await openPlace({ db, config, objects, keys }, await findPlace(db, this.#row.place_id));
    try {
      const manifest = await readManifest(destination, this.#row.id);
      return { destination, manifest, key: await this.#keyFor(manifest, keys) };
    } catch (error) {
      if (!(error instanceof BackupFault)) throw error;
      if (error.code === 'wrong-passphrase') throw new FinalFailure(error.code, error.message);
      this.problems.push({ code: error.code, name: 'manifest.json' });
      return undefined;
    }
  }

  async #keyFor({ encryption }: BackupManifest, keys: Keys): Promise<BackupKey | undefined> {
    if (!encryption) return undefined;
    const { passphrase: sealed } = this.#payload;
    const given = sealed === undefined ? undefined : unseal(keys, sealed, verifyPlace(this.#row.id));
    const passphrase = given ?? passphraseOf(keys, await readBackupSettings(this.#work.db));
    return openKey(passphrase ?? '', encryption);
  }

  /** Reads to the end; the stream checks the content. */
  async #judge(name: string, open: () => Promise<AsyncIterable<unknown>>): Promise<string> {
    this.#work.signal.throwIfAborted();
    try {
      for await (const _chunk of await open());
      return 'good';
    } catch (error) {
      if (!(error instanceof BackupFault)) throw error;
      this.problems.push({ code: error.code, name });
      return error.code;
    }
  }

  async #readObjects({ destination, manifest, key }: Source): Promise<void> {
    const unlike = new Map(manifest.objects.map((object) => [objectName(object, manifest.encryption), object]));
    for (const [name, object] of unlike) {
      const result = await this.#judge(name, () => openObject(destination, { manifest, object }, key));
      this.objects.checked += 1;
      if (result === 'incomplete') this.objects.missing += 1;
      else if (result !== 'good') this.objects.differing += 1;
      if (this.objects.checked % 200 === 0)
        await this.#work.report(this.#work.db, { done: this.objects.checked, total: unlike.size, unit: 'files' });
    }
  }

  /** Uses the schema that a restore loads into; a restore has priority. */
  async #load(source: Source): Promise<void> {
    const { config, signal } = this.#work;
    const { schemaVersion, tables } = source.manifest;
    if (!Object.hasOwn(migrations, schemaVersion)) throw new FinalFailure('newer-version', 'A newer version made it');
    const client = await connectRestore(config.databaseUrl);
    try {
      if (!(await holdAlone(client))) throw new Postponed(new Date(Date.now() + AGAIN_MS));
      await makeSecondSchema(client, config.databaseUrl, schemaVersion);
      await loadTables(client, source, async () => signal.throwIfAborted());
      this.tables = { checked: tables.length, rows: tables.reduce((sum, { rows }) => sum + rows, 0) };
    } catch (error) {
      if (isFull(error)) throw new FinalFailure('no-space', 'Postgres has no space to load it');
      if (!(error instanceof BackupFault)) throw error;
      this.problems.push({ code: error.code, name: error.message.slice(0, 200) });
    } finally {
      await dropSecondSchema(client).catch(() => undefined);
      await client.end().catch(() => undefined);
    }
  }
}

const isFull = (error: unknown): boolean => (error as { code?: string }).code === '53100';
