import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256Of } from '#areas/backup/backups/stored.ts';
import { putRestore } from '#areas/backup/restore/restores.store.ts';
import type { BackupManifest } from '#platform/backup-manifest.ts';
import type { LooseDb } from '#support/loose.ts';
import { connectLoosely } from '#support/loose.ts';
import { restoreOnRecord } from '#workers/restore/restore.ts';
import type { Api } from './api.ts';
import { type WriteOptions, type Written, writeBackup } from './backup-writer.ts';
import { storesOf } from './processes.ts';
import { atEnd } from './stores.ts';

/** Passes every fence, which in the product only the restore does. */
export function unfenced(databaseUrl: string, log: Api['deps']['log']): LooseDb {
  const db = connectLoosely(databaseUrl, log, { max: 2, name: 'test-looks', unfenced: true });
  atEnd(() => db.destroy());
  return db;
}

/** Where the built-in destination of an API keeps backups. */
export const builtinFolder = ({ config }: Api): string => join(fileURLToPath(config.objectsUrl), 'foyer-backups');

/** A backup at the built-in destination, with its row. */
export async function backedUp(api: Api, more: Partial<WriteOptions> = {}): Promise<Written> {
  const written = await writeBackup({
    folder: builtinFolder(api),
    databaseUrl: api.config.databaseUrl,
    serverId: api.deps.keys.serverId,
    ...more,
  });
  await addRow(api.deps.db, written.manifest);
  return written;
}

export async function addRow(db: LooseDb, manifest: BackupManifest): Promise<void> {
  const { encryption } = manifest;
  await db('backups').insert({
    id: manifest.id,
    state: 'completed',
    trigger: 'person',
    place_id: '00000000-0000-7000-8000-000000000001',
    server_id: manifest.serverId,
    server_name: manifest.serverName,
    server_version: manifest.serverVersion,
    schema_version: manifest.schemaVersion,
    snapshot_at: manifest.snapshotAt,
    objects_mode: manifest.objectsMode,
    encryption: encryption && JSON.stringify(encryption),
  });
}

export interface Wanted {
  backupId: string;
  manifest?: BackupManifest | undefined;
  passphrase?: string;
}

/** Puts it on record, as the endpoint does. */
export async function requestRestore(api: Api, db: LooseDb, { backupId, manifest, passphrase }: Wanted): Promise<void> {
  const manifestSha256 = manifest ? sha256Of(manifest) : null;
  const [owner] = await db('accounts').where({ role: 'owner' }).limit(1).pluck<string[]>('id');
  await putRestore(db, api.deps.keys, { backupId, manifestSha256, passphrase, accountId: owner ?? backupId });
}

/** The restore on record in this process, from the backup that is given; its record afterwards. */
export async function restoreHere(
  api: Api,
  db: LooseDb,
  { destination, manifest }: Written,
): Promise<Record<string, unknown>> {
  const { config, keys, objects, redis, log } = api.deps;
  await requestRestore(api, db, { backupId: manifest.id, manifest });
  const sourceOf = async () => ({ destination, manifest, key: undefined });
  await restoreOnRecord({ config, keys, objects, redis, log, sourceOf });
  return record(db);
}

/** The newest restore on record. */
export async function record(db: LooseDb): Promise<Record<string, unknown>> {
  return db('foyer_restore.restores').orderBy('started_at', 'desc').first();
}

export interface Process {
  pid: number;
  /** Its exit status, or the signal that ended it. */
  ended: Promise<number | string>;
  kill(): void;
  /** KiB of memory at most, as far as it was measured. */
  mostKiB(): number;
}

/** `workers/restore/main.ts` on the stores of an API. */
export function restoreProcess(api: Api, more: Record<string, string> = {}): Process {
  const child = spawn(process.execPath, ['workers/restore/main.ts'], {
    env: { ...process.env, ...storesOf(api.config), FOYER_LOG_LEVEL: 'warn', ...more },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  let most = 0;
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      most = Math.max(most, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // it ended
    }
  }, 20);
  atEnd(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(([code, signal]) => {
    clearInterval(look);
    return (code ?? signal) as number | string;
  });
  return { pid: child.pid ?? 0, ended, kill: () => child.kill('SIGKILL'), mostKiB: () => most };
}

/**
 * Every table of a schema as text, in the order of its rows: for a comparison with an earlier state, or with a backup.
 */
export async function tableTexts(db: LooseDb, schema = 'public'): Promise<Map<string, string>> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select relname::text as name from pg_class where relkind = 'r' and relnamespace = ?::regnamespace order by 1`,
    [schema],
  );
  const texts = new Map<string, string>();
  for (const { name } of rows) {
    const found = await db.raw<{ rows: { text: string | null }[] }>(
      `select md5(string_agg(t::text, E'\\n' order by t::text)) || '/' || count(*) as text from ??.?? t`,
      [schema, name],
    );
    texts.set(name, found.rows[0]?.text ?? '');
  }
  return texts;
}
