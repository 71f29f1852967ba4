// Restoring a backup: everything that may fail happens next to the running server; then the database is exchanged at
// once.
import type pg from 'pg';
import { BackupFault } from '#platform/backup/faults.ts';
import { putAsideAs } from '#platform/backup/put-aside.ts';
import { databaseUnavailable } from '#platform/db.ts';
import { connectRestore, holdAlone, holdMigrations } from './connection.ts';
import { open } from './fence.ts';
import { fetchParts, loadTables, type Report, type Source } from './load.ts';
import { putMissing, refuseObjects } from './put-objects.ts';
import { advance, endFailed, isCancelled, openRecord, type RestorePhase, type RestoreRecord } from './record.ts';
import { reopen } from './reopen.ts';
import { resetState } from './restart.ts';
import { dropSecondSchema, makeSecondSchema, migrateOn, migrationsIn, SECOND_SCHEMA } from './second-schema.ts';
import { switchOver } from './switch-over.ts';
import type { RestoreDeps, Restoring } from './work.ts';

/** After this many lost processes the restore fails. */
const MOST_ATTEMPTS = 5;
const TELL_MS = 500;

class Cancelled extends Error {}

/**
 * Performs the recorded restore from wherever an earlier process was lost: before the exchange from the start, after it
 * to the end. Throws only when Postgres is unavailable; the caller then tries again. False when another process is at
 * work.
 */
export async function restoreOnRecord(deps: RestoreDeps): Promise<boolean> {
  const client = await connectRestore(deps.config.databaseUrl);
  try {
    if (!(await holdAlone(client))) return false;
    const record = await openRecord(client);
    if (record?.switched_at) await finish(deps, client, record);
    else await begin(deps, client, record);
    return true;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function finish(deps: RestoreDeps, client: pg.Client, record: RestoreRecord): Promise<void> {
  const source = await deps.sourceOf(record).catch((error: Error) => {
    deps.log.warn({ err: error }, 'objects that differ stay as they are: the backup cannot be read any more');
    return undefined;
  });
  await reopen({ ...deps, client, record, source });
}

async function begin(deps: RestoreDeps, client: pg.Client, record: RestoreRecord | undefined): Promise<void> {
  await open(client); // an earlier attempt may have ended between shutting everyone out and the exchange
  if (!record) return;
  try {
    await countAttempt(client, record);
    const source = await deps.sourceOf(record);
    const work: Restoring = { ...deps, client, record, source };
    await prepare(work);
    const switched = await switchOver(work, source ? SECOND_SCHEMA : putAsideAs(record.backup_id));
    if (!switched) throw new Cancelled();
    await reopen({ ...work, record: switched });
  } catch (error) {
    if (databaseUnavailable(error) || (await isSwitched(client, record))) throw error;
    await giveUp(deps, client, { record, error });
  }
}

async function countAttempt(client: pg.Client, { id, attempts }: RestoreRecord): Promise<void> {
  if (attempts >= MOST_ATTEMPTS) throw new BackupFault('damaged', 'The process that restored it was lost each time');
  await client.query(
    `update foyer_restore.restores set attempts = attempts + 1, state = 'preparing', phase = 'fetching' where id = $1`,
    [id],
  );
}

async function isSwitched(client: pg.Client, { id }: RestoreRecord): Promise<boolean> {
  const { rows } = await client.query<{ is: boolean }>(
    'select switched_at is not null as is from foyer_restore.restores where id = $1',
    [id],
  );
  return rows[0]?.is ?? false;
}

/** The server continues as if no restore had been requested. */
async function giveUp(
  deps: RestoreDeps,
  client: pg.Client,
  failed: { record: RestoreRecord; error: unknown },
): Promise<void> {
  const { record, error } = failed;
  await client.query('rollback; set search_path to default');
  await dropSecondSchema(client);
  await open(client);
  if (!(error instanceof Cancelled)) deps.log.warn({ err: error, backup: record.backup_id }, 'the restore failed');
  await endFailed(client, record, failureOf(error));
}

function failureOf(error: unknown): { code: string; reason: string; message: string } {
  if (error instanceof Cancelled) return { code: 'CONFLICT', reason: 'cancelled', message: 'It was cancelled' };
  if (error instanceof BackupFault)
    return { code: 'CONFLICT', reason: error.code, message: error.message.slice(0, 300) };
  return { code: 'INTERNAL', reason: 'failed', message: 'It failed; the log of its process says why' };
}

async function prepare(work: Restoring): Promise<void> {
  const { client, config, record, source } = work;
  if (source) await load(work, source);
  const schema = source ? SECOND_SCHEMA : putAsideAs(record.backup_id);
  await advance(client, record, { phase: 'migrating' });
  await holdMigrations(client);
  await migrateOn(client, config.databaseUrl, schema);
  await advance(client, record, { phase: 'checking' });
  await refuseOtherSchema(client, schema);
  await client.query('set search_path to default');
  await resetState(client, schema);
  if (!source) return;
  const differing = await putMissing(source, work.objects, reporter(work, 'objects'));
  await client.query('update foyer_restore.restores set objects = $2 where id = $1', [
    record.id,
    JSON.stringify(differing),
  ]);
}

async function load(work: Restoring, source: Source): Promise<void> {
  const { client, config } = work;
  refuseObjects(source.manifest.objects);
  await fetchParts(source, reporter(work, 'fetching'));
  await makeSecondSchema(client, config.databaseUrl, source.manifest.schemaVersion);
  await loadTables(client, source, reporter(work, 'loading'));
}

/** Checks that the loaded schema has every table and column of the live one, and the rows that every server has. */
async function refuseOtherSchema(client: pg.Client, schema: string): Promise<void> {
  const [own, other] = await Promise.all(['public', schema].map((name) => migrationsIn(client, name)));
  const missing = own?.filter((name) => !other?.includes(name)) ?? [];
  if (missing.length > 0) throw new Error(`not migrated: ${missing.join(', ')}`);
  const { rows } = await client.query<{ servers: number; owners: number }>(
    `select (select count(*)::int from ${schema}.server_state) as servers,
            (select count(*)::int from ${schema}.accounts) as owners`,
  );
  if (!rows[0]?.servers || !rows[0].owners) throw new BackupFault('incomplete', 'It holds no server');
}

/** Reports the progress of a phase, and ends the work once its job is cancelled. */
function reporter({ client, record }: Restoring, phase: RestorePhase): Report {
  let last = 0;
  return async (share) => {
    const now = Date.now();
    if (now - last < TELL_MS) return;
    last = now;
    if (await isCancelled(client, record)) throw new Cancelled();
    await advance(client, record, { phase, share });
  };
}
