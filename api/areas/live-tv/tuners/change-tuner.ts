import { isDeepStrictEqual } from 'node:util';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { clearTuner } from '#platform/live/streams.store.ts';
import { markStale } from '../schedule/schedule.store.ts';
import { maskedAddress } from './addresses.ts';
import { refuseDuplicate } from './create-tuner.ts';
import { type Place, type Tried, triedPlace } from './orders.ts';
import { dropPlaylist, keepPlaylist } from './playlists.ts';
import { getTunerRow, refuseForeignManager, refuseInUse, refuseManaged, requestScan, requireFolder } from './saved.ts';
import { declaredFields } from './tuner-fields.ts';
import type { TunerChange } from './tuners.schemas.ts';
import {
  findTunerRow,
  lockTunerRow,
  lockTuners,
  sealSecrets,
  secretsOf,
  type TunerRow,
  type TunerSecrets,
  updateTunerRow,
} from './tuners.store.ts';

/** Changes a tuner. Throws 400, 403, 404, 409 and 502 as updateTuner describes. */
export async function changeTuner(call: Call, id: string, given: TunerChange): Promise<TunerRow> {
  const before = await getTunerRow(call, id);
  refuseForeignManager(call, given.managedBy);
  const change = withoutSame(call, before, given);
  const { force: _force, managedBy: _by, ...fields } = change;
  refuseManaged(call, before, Object.keys(fields));
  requireFitting(before, change);
  await requireFolder(call.db, change.recordingsFolderId);
  const object = change.playlist ? await keepPlaylist(call, change.playlist) : undefined;
  try {
    const changed = { change, object, declared: declaredFields(given) };
    const tried = await tryChanged(call, before, changed);
    const row = await call.transact((inside) => write(inside, id, { ...changed, tried }));
    if (object !== undefined || isMoved(change)) await dropPlaylist(call, before.playlist_object);
    return row;
  } catch (error) {
    if (object !== undefined) await dropPlaylist(call, object);
    throw error;
  }
}

/** The saved address, also as it was shown, and the saved id are no change. */
function withoutSame({ deps }: Call, row: TunerRow, change: TunerChange): TunerChange {
  const { url, deviceId, ...rest } = change;
  const sameUrl = url === undefined || [row.address, secretsOf(deps.keys, row)?.url].includes(url);
  return {
    ...rest,
    ...(!sameUrl && { url }),
    ...(deviceId?.toUpperCase() !== row.device_id && deviceId !== undefined && { deviceId }),
  };
}

const isMoved = ({ url, deviceId, playlist }: TunerChange): boolean =>
  url !== undefined || deviceId !== undefined || playlist !== undefined;

function requireFitting({ kind }: TunerRow, { url, deviceId, playlist }: TunerChange): void {
  const places = [url, deviceId, playlist].filter((place) => place !== undefined).length;
  if (places > 1) throw invalid(['body', 'url'], 'one_place', 'one of url, deviceId and playlist');
  if (kind === 'm3u' && deviceId)
    throw invalid(['body', 'deviceId'], 'not_of_kind', 'only an HDHomeRun has a device id');
  if (kind === 'hdhomerun' && playlist)
    throw invalid(['body', 'playlist'], 'not_of_kind', 'only a tuner of kind m3u has a playlist');
}

interface Changed {
  change: TunerChange;
  /** Key of a playlist that was uploaded now. */
  object: string | undefined;
  /** Fields that the operator sends. */
  declared: string[];
}

type Answered = Extract<Tried, { ok: true }> | undefined;

/** Tries a new place; the operator's is declared, whatever answers there. */
async function tryChanged(call: Call, row: TunerRow, { change, object }: Changed): Promise<Answered> {
  if (!isMoved(change) || change.enabled === false || (call.who.operator && !object)) return undefined;
  await refuseDuplicate(call, { url: change.url, deviceId: change.deviceId, except: row.id });
  return triedPlace(call, placeOf(call, row, { change, object }));
}

function placeOf(call: Call, row: TunerRow, { change, object }: Pick<Changed, 'change' | 'object'>): Place {
  const headers = change.headers ?? (change.headers === null ? undefined : knownHeaders(call, row, change));
  const userAgent = change.userAgent ?? row.user_agent;
  return {
    kind: row.kind,
    ...(change.url && { url: change.url }),
    ...(change.deviceId && { deviceId: change.deviceId }),
    ...(object && { object }),
    ...(headers && { headers }),
    ...(userAgent && { userAgent }),
  };
}

/** Saved headers are sent to the same host alone. */
function knownHeaders({ deps }: Call, row: TunerRow, { url }: TunerChange): Record<string, string> | undefined {
  const { url: was, headers } = secretsOf(deps.keys, row) ?? {};
  const sameHost = url !== undefined && was !== undefined && new URL(url).host === new URL(was).host;
  return url === undefined || sameHost ? headers : undefined;
}

async function write(
  call: Call,
  id: string,
  { change, object, tried, declared }: Changed & { tried: Answered },
): Promise<TunerRow> {
  const { db, who } = call;
  await lockTuners(db);
  const row = await lockTunerRow(db, id);
  if (!row) throw notFound();
  await refuseWrite(call, row, { change, deviceId: tried?.device?.id || change.deviceId });
  await updateTunerRow(db, id, columnsOf(call, row, { change, object, tried, declared }));
  await leaveDisabled(db, row, change);
  await markStale(db);
  await audit(call, 'tuner.changed', { tunerId: id, name: change.name ?? row.name, fields: Object.keys(change) });
  const after = await findTunerRow(db, id);
  if (!after) throw conflict('gone', 'The tuner was deleted');
  if (after.enabled && scansAgain(row, change))
    await requestScan(db, after, { cause: 'person', byAccountId: who.accountId });
  return after;
}

/** Streams of a tuner that is switched off move to other tuners or end. */
async function leaveDisabled(db: Db, row: TunerRow, { enabled }: TunerChange): Promise<void> {
  if (enabled === false && row.enabled) await clearTuner(db, row.id);
}

/** Throws 409 for a place that another tuner has, and for streams that the change would end. */
async function refuseWrite(
  call: Call,
  row: TunerRow,
  { change, deviceId }: { change: TunerChange; deviceId: string | undefined },
): Promise<void> {
  if (isMoved(change)) await refuseDuplicate(call, { url: change.url, deviceId, except: row.id });
  if (change.enabled === false && row.enabled && !change.force) await refuseInUse(call, row.id);
}

/** A changed address, filter or playlist is read again, and a tuner that is switched on. */
function scansAgain(row: TunerRow, change: TunerChange): boolean {
  const differs = (name: 'include' | 'exclude' | 'numbering'): boolean =>
    change[name] !== undefined && !isDeepStrictEqual(change[name] ?? null, row[name]);
  return (
    isMoved(change) ||
    (change.enabled === true && !row.enabled) ||
    change.headers !== undefined ||
    (['include', 'exclude', 'numbering'] as const).some(differs)
  );
}

const SAME = { name: 'name', priority: 'priority', enabled: 'enabled', numbering: 'numbering' } as const;
const RENAMED = {
  userAgent: 'user_agent',
  include: 'include',
  exclude: 'exclude',
  bufferMinutes: 'buffer_minutes',
  recordingsFolderId: 'recordings_folder_id',
  refreshHours: 'refresh_hours',
} as const;

function columnsOf(
  call: Call,
  row: TunerRow,
  { change, object, tried, declared }: Changed & { tried: Answered },
): Partial<TunerRow> {
  const named = Object.entries({ ...SAME, ...RENAMED }).filter(
    ([field]) => change[field as keyof TunerChange] !== undefined,
  );
  const plain = Object.fromEntries(named.map(([field, column]) => [column, change[field as keyof TunerChange]]));
  const slots = change.slotCount ?? (row.own_slots ? undefined : tried?.slotCount);
  return {
    ...(plain as Partial<TunerRow>),
    ...(slots !== undefined && { slot_count: slots }),
    ...(change.slotCount !== undefined && { own_slots: true }),
    ...placeColumns(call, row, { change, object, declared }),
    ...(tried?.device && { device: tried.device }),
    ...(change.enabled === false
      ? { state: 'disabled' as const }
      : change.enabled && { state: 'starting' as const, state_reason: null }),
    ...ownerColumns({ change, declared }),
  };
}

function ownerColumns({ change, declared }: Pick<Changed, 'change' | 'declared'>): Partial<TunerRow> {
  if (change.managedBy === undefined) return {};
  if (change.managedBy === null) return { managed_by: null, managed_fields: [] };
  return { managed_by: change.managedBy, managed_fields: declared };
}

/** Another place, and the secrets that belong to it. */
function placeColumns({ deps }: Call, row: TunerRow, { change, object }: Changed): Partial<TunerRow> {
  if (!isMoved(change) && change.headers === undefined) return {};
  const before = secretsOf(deps.keys, row) ?? {};
  const headers = headersAfter(before, change);
  const url = isMoved(change) ? change.url : before.url;
  const secrets: TunerSecrets = { ...(url && { url }), ...(headers && { headers }) };
  return {
    secrets: sealSecrets(deps.keys, row.id, secrets),
    header_names: Object.keys(headers ?? {}),
    ...(isMoved(change) && movedColumns(change, object)),
  };
}

function movedColumns({ url, deviceId }: TunerChange, object: string | undefined): Partial<TunerRow> {
  return {
    address: url ? maskedAddress(url) : null,
    device_id: deviceId?.toUpperCase() ?? null,
    playlist_object: object ?? null,
  };
}

function headersAfter(
  { url: was, headers }: TunerSecrets,
  { url, headers: given }: TunerChange,
): Record<string, string> | undefined {
  if (given !== undefined) return given ?? undefined;
  if (url === undefined) return headers;
  return was !== undefined && new URL(url).host === new URL(was).host ? headers : undefined;
}
