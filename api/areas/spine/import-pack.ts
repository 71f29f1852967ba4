import { readJob } from '#areas/jobs/public.ts';
import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid, notFound } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { type Outbound, OutboundRefused } from '#platform/outbound.ts';
import { type Head, PackRefused, trustedKeysOf } from '#platform/spine/manifest.ts';
import { spineNetworks, spineOutbound } from '#platform/spine/network.ts';
import { openPack, type Ranges } from '#platform/spine/pack.ts';
import { findPack, openImport, type PackRow, readSpineState } from '#platform/spine/packs.store.ts';
import {
  addressRanges,
  dropPieces,
  FileUnreadable,
  fileRanges,
  piecesOf,
  SourceUnavailable,
} from '#platform/spine/source.ts';
import { compareVersions } from '#platform/spine/versions.ts';
import { volumeSpace } from '#platform/store-volumes.ts';
import type { ImportedPack, PackImport, SpinePack } from './spine.schemas.ts';
import { toPack, worksIn } from './status.view.ts';

const HEAD_MS = 10_000;
/** Rows with their indexes in Postgres, per byte of unpacked rows. */
const GROWTH = 3;

type Source = JobPayload<'spine.import'>['source'];

interface Given {
  packId: string;
  read: Ranges;
  /** Of the job; that of an address has the size of the head's manifest. */
  sourceOf: (head: Head) => Source;
  sha256: string | undefined;
}

/** Checks the head of a pack and has the pack loaded. Throws 400, 409, 423, 502. */
export async function importPack(call: Call, body: PackImport, outbound?: Outbound): Promise<ImportedPack> {
  const { url, storageId, current, remove, file, path } = body;
  if ([url, storageId, current, remove, file].filter((one) => one !== undefined).length !== 1)
    throw invalid(['body'], 'exactly_one', 'exactly one of url, storageId, current, remove and file');
  if ((storageId === undefined) !== (path === undefined))
    throw invalid(['body', 'path'], 'exactly_one', 'storageId and path belong together');
  try {
    if (remove !== undefined) return await removePack(call, remove, body.dryRun);
    return await importFrom(call, await givenBy(call, body, outbound ?? spineOutbound(call.deps.config)), body);
  } catch (error) {
    if (file) await dropPieces(call.deps.objects, file.id);
    throw error;
  }
}

async function givenBy(call: Call, body: PackImport, outbound: Outbound): Promise<Given> {
  const { file, storageId, path = '', sha256 } = body;
  if (file) {
    const read = piecesOf(call.deps.objects, file.id);
    return { packId: file.id, read, sourceOf: () => ({ uploaded: true }), sha256 };
  }
  if (storageId !== undefined) {
    const read = fileRanges(await fileOn(call, storageId, path));
    return { packId: newId(), read, sourceOf: () => ({ storageId, path }), sha256 };
  }
  return offeredBy(call, body, outbound);
}

async function offeredBy(call: Call, { url: given, current, sha256 }: PackImport, outbound: Outbound): Promise<Given> {
  const available = current ? (await readSpineState(call.db))?.available : undefined;
  const url = given ?? available?.url;
  if (url === undefined) throw conflict('none-available', 'No newer pack is known');
  const options = { ...spineNetworks(call.deps.settings), timeoutMs: HEAD_MS, signal: call.signal };
  return {
    ...{ packId: newId(), read: addressRanges(outbound, url, options), sha256: sha256 ?? available?.sha256 },
    sourceOf: ({ sizeBytes }) => ({ url, sizeBytes }),
  };
}

async function fileOn({ db, deps }: Call, storageId: string, path: string): Promise<string> {
  const storage = (await findStorages(db, [storageId])).get(storageId);
  if (!storage) throw notFound();
  const place = await placeInStorage(deps.config, storage, path);
  if (place.kind === 'there') return place.absolute;
  if (place.kind === 'unavailable') throw unreadable(new FileUnreadable('no answer', true), storageId);
  throw noSuchFile();
}

const noSuchFile = (): ApiError => invalid(['body', 'path'], 'no_such_file', 'there is no such file');

async function importFrom(call: Call, given: Given, { dryRun, storageId }: PackImport): Promise<ImportedPack> {
  const head = await headOf(call, given, storageId);
  const { manifest } = head;
  const older = await findPack(call.db, { name: manifest.name });
  refuseVersion(head, older);
  const freeBytesNeeded = bytesFor(head, older);
  const space = await volumeSpace(call.deps.redis, call.deps.config.storeVolumes.postgres);
  if (space && space.free < freeBytesNeeded)
    throw conflict('no-space', 'The database has too little space', { freeBytesNeeded, freeBytes: space.free });
  const pack = toPackOf(given.packId, head);
  const willReplace = older && manifest.base === undefined ? worksIn(older) : 0;
  const answer = { pack, willAdd: pack.works, willReplace, freeBytesNeeded };
  if (!dryRun) return { ...answer, job: await queue(call, given, head) };
  call.reply.status(200);
  if ('uploaded' in given.sourceOf(head)) await dropPieces(call.deps.objects, given.packId);
  return answer;
}

async function headOf({ deps }: Call, { read, sha256 }: Given, storageId: string | undefined): Promise<Head> {
  const head = await openPack(read, trustedKeysOf(deps.settings.get('spine.trustedKeys'))).catch((error: unknown) => {
    throw error instanceof FileUnreadable ? unreadable(error, storageId) : refusalOf(error);
  });
  if (sha256 !== undefined && sha256 !== head.sha256)
    throw conflict('checksum-differs', 'The pack is another one', { sha256: head.sha256 });
  return head;
}

const unreadable = ({ storageFailed }: FileUnreadable, storageId = ''): ApiError =>
  storageFailed ? new ApiError('STORAGE_UNAVAILABLE', 'The storage is unavailable', { storageId }) : noSuchFile();

function refusalOf(error: unknown): unknown {
  if (error instanceof PackRefused) return packRefusal(error);
  const isOutbound = error instanceof OutboundRefused;
  if (isOutbound && error.reason !== 'time' && error.reason !== 'size')
    return invalid(['body', 'url'], 'address_not_allowed', 'this address is not fetched');
  const isNetwork = isOutbound || error instanceof SourceUnavailable || (error as { code?: string }).code !== undefined;
  return isNetwork ? new ApiError('PROVIDER_UNAVAILABLE', 'The address does not serve the pack', {}) : error;
}

function packRefusal({ reason, keyId, message }: PackRefused): ApiError {
  if (reason === 'not-trusted') return conflict('not-trusted', 'No trusted key signed it', { keyId });
  if (reason === 'format-newer') return conflict('format-newer', 'This server is too old for the pack');
  if (reason === 'altered') return conflict('checksum-differs', 'The signature does not fit the pack');
  return invalid(['body'], 'not_a_pack', message);
}

function refuseVersion({ manifest: { version, base } }: Head, older: PackRow | undefined): void {
  if (older && compareVersions(version, older.version) < 0)
    throw conflict('older-version', 'A newer version is loaded', { version: older.version });
  if (base !== undefined && base !== older?.version)
    throw conflict('delta-base-missing', 'The version is not loaded that the delta changes', { needs: base });
}

/** The old rows stay until the new ones are complete; a delta copies them. */
function bytesFor({ manifest, sizeBytes }: Head, older: PackRow | undefined): number {
  const unpacked = manifest.blocks.reduce((sum, block) => sum + block.unpackedBytes, 0);
  const copied = manifest.base !== undefined && older ? worksIn(older) * 600 : 0;
  return sizeBytes + GROWTH * unpacked + copied;
}

function toPackOf(id: string, { manifest, sizeBytes, sha256 }: Head): SpinePack {
  const { name, version, kinds, languages, signedBy, builtAt, sources } = manifest;
  const works = Object.values(manifest.works).reduce((all, one) => all + one, 0);
  const at = new Date(builtAt).toISOString();
  return { id, name, version, kinds, languages, works, sizeBytes, signedBy, builtAt: at, sources, sha256 };
}

async function queue(call: Call, { packId, sourceOf }: Given, head: Head): Promise<ImportedPack['job']> {
  const title = `${head.manifest.name} ${head.manifest.version}`;
  return queueJob(call, { packId, sha256: head.sha256, source: sourceOf(head) }, title);
}

async function queueJob(
  call: Call,
  given: Omit<JobPayload<'spine.import'>, 'importedBy'>,
  title: string,
): Promise<ImportedPack['job']> {
  const open = await openImport(call.db);
  if (open) throw conflict('import-running', 'Another import is running', { jobId: open.id });
  const importedBy = call.who.accountId || null;
  const target = { kind: 'spine-pack', id: given.packId, title };
  const jobId = await call.enqueue('spine.import', { ...given, importedBy }, { key: 'spine.import', target });
  await audit(call, 'spine.imported', { packId: given.packId, title });
  return readJob(call, jobId);
}

async function removePack(call: Call, id: string, dryRun: boolean): Promise<ImportedPack> {
  const row = await findPack(call.db, { id });
  if (!row) throw notFound();
  const answer = { pack: toPack(row), willAdd: 0, willReplace: worksIn(row), freeBytesNeeded: 0 };
  if (dryRun) {
    call.reply.status(200);
    return answer;
  }
  const given = { packId: newId(), sha256: row.sha256, source: { remove: id } };
  return { ...answer, job: await queueJob(call, given, `${row.name} ${row.version}`) };
}
