import { sendRanged } from '#areas/streaming/public.ts';
import { requireConfirmed } from '#identity/person.ts';
import { audit } from '#kernel/audit.ts';
import { type Bytes, bytes, type Call, defineEndpoint } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { DestinationUnavailable } from '#platform/backup/destination.ts';
import { BackupFault } from '#platform/backup/faults.ts';
import { readManifest } from '#platform/backup/part.ts';
import { manifestName } from '#platform/backup-manifest.ts';
import { findPlace } from '../settings/places.store.ts';
import { openPlace } from '../settings/places.ts';
import { findBackup, GOOD, type ShownRow } from './backups.store.ts';
import { takeDownload } from './downloading.ts';
import { type Archive, archiveOf } from './tar.ts';

export const downloadBackup = defineEndpoint({
  operationId: 'downloadBackup',
  method: 'get',
  path: '/backups/:id/file',
  summary: 'Download a backup as a tar archive',
  description:
    'Requires a recently confirmed session. The archive contains the manifest, the dump and the objects as stored, still encrypted; it can be unpacked at any destination and is found there again. Supports Range requests. Only one download runs at a time (409 `download-running`).',
  access: { owner: true },
  params: IdParams,
  answer: bytes('application/x-tar'),
  errors: ['CONFLICT', 'RANGE_NOT_SATISFIABLE'],

  async handle({ params }, call) {
    const row = await findBackup(call.db, params.id);
    if (!row) throw notFound();
    requireConfirmed(call.who, call.now);
    if (!GOOD.includes(row.state)) throw conflict('not-complete', 'The backup has no complete files to download');
    const archive = await openArchive(call, row);
    return sent(call, row, archive);
  },
});

async function openArchive({ db, deps }: Call, row: ShownRow): Promise<Archive> {
  try {
    const destination = await openPlace({ ...deps, db }, await findPlace(db, row.place_id));
    const manifest = await readManifest(destination, row.id);
    return archiveOf(destination, manifest, (await destination.size(manifestName(row.id))) ?? 0);
  } catch (error) {
    if (error instanceof BackupFault) throw conflict(error.code, error.message);
    if (error instanceof DestinationUnavailable)
      throw conflict('destination-unreachable', 'The destination does not answer');
    throw error;
  }
}

/** Holds the download slot from the first byte until the connection closes. */
async function sent(call: Call, row: ShownRow, archive: Archive): Promise<Bytes> {
  const reads = call.method === 'GET';
  const release = reads ? await takeDownload(call.deps.redis, row.id) : () => undefined;
  if (!release) throw conflict('download-running', 'One download at a time');
  try {
    const at = row.finished_at ?? row.started_at;
    call.reply.header(
      'Content-Disposition',
      `attachment; filename="foyer-backup-${at.toISOString().slice(0, 10)}.tar"`,
    );
    const answer = await sendRanged(call, {
      size: archive.bytes,
      etag: `${row.id}-${archive.bytes}`,
      modifiedAt: at,
      type: 'application/x-tar',
      cacheControl: 'private, no-store',
      read: async (range) => archive.read(range),
    });
    if (answer.body === null || typeof answer.body === 'string' || Buffer.isBuffer(answer.body)) release();
    else answer.body.once('close', release);
    if (reads) await audit(call, 'backup.downloaded', { backupId: row.id, range: call.headers.range });
    return answer;
  } catch (error) {
    release();
    throw error;
  }
}
