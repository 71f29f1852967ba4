import { findPlace, openPlace, type PlaceDeps, passphrasePlace, sha256Of } from '#areas/backup/public.ts';
import { BackupFault } from '#platform/backup/faults.ts';
import { readManifest } from '#platform/backup/part.ts';
import { openKey } from '#platform/backup/sealing.ts';
import { connectDatabase } from '#platform/db.ts';
import { unseal } from '#platform/keys.ts';
import type { Log } from '#platform/log.ts';
import { migrations } from '#platform/migrations/index.ts';
import { APPLICATION } from './connection.ts';
import type { Source } from './load.ts';
import type { RestoreRecord } from './record.ts';

type Deps = Omit<PlaceDeps, 'db'> & { log: Log };

/** Opens the recorded backup and checks that it is the one that was planned. */
export function sourcesOf({ log, ...deps }: Deps): (record: RestoreRecord) => Promise<Source | undefined> {
  return async (record) => {
    if (record.manifest_sha256 === null) return undefined;
    const db = connectDatabase(deps.config.databaseUrl, log, { max: 1, name: APPLICATION, unfenced: true });
    try {
      return await opened({ ...deps, db }, record);
    } finally {
      await db.destroy();
    }
  };
}

async function opened(deps: PlaceDeps, record: RestoreRecord): Promise<Source> {
  const { backup_id: id, passphrase_sealed: sealed } = record;
  const row = await deps.db('backups').where({ id }).first('place_id');
  if (!row) throw new BackupFault('incomplete', 'The backup is not known any more');
  const destination = await openPlace(deps, await findPlace(deps.db, row.place_id));
  const manifest = await readManifest(destination, id);
  if (!Object.hasOwn(migrations, manifest.schemaVersion))
    throw new BackupFault('newer-version', 'The backup was made by a newer version');
  if (sha256Of(manifest) !== record.manifest_sha256)
    throw new BackupFault('damaged', 'The manifest is another one than that of the plan');
  const passphrase = sealed === null ? undefined : unseal(deps.keys, sealed, passphrasePlace(record.id));
  const { encryption } = manifest;
  const key = encryption && passphrase !== undefined ? await openKey(passphrase, encryption) : undefined;
  return { destination, manifest, key };
}
