import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { breaks } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { maskedAddress } from './addresses.ts';
import { type Tried, triedPlace } from './orders.ts';
import { dropPlaylist, keepPlaylist } from './playlists.ts';
import { refuseForeignManager, requestScan, requireFolder, requireLiveLibrary } from './saved.ts';
import { declaredFields } from './tuner-fields.ts';
import type { TunerDraft } from './tuners.schemas.ts';
import {
  findManagedTuner,
  findTunerRow,
  insertTunerRow,
  listTunerRows,
  lockTuners,
  MOST_TUNERS,
  sealSecrets,
  secretsOf,
  type TunerRow,
} from './tuners.store.ts';

/** Saves a tuner whose address answers as its kind, and queues its scan. Throws 400, 403, 409 and 502 as createTuner describes. */
export async function createTunerOf(call: Call, draft: TunerDraft): Promise<{ row: TunerRow; repeated: boolean }> {
  refuseForeignManager(call, draft.managedBy);
  const made = draft.managedBy && (await findManagedTuner(call.db, draft.managedBy.uid));
  if (made) return { row: made, repeated: true };
  requireOnePlace(draft);
  await requireLiveLibrary(call.db, draft.libraryId);
  await requireFolder(call.db, draft.recordingsFolderId);
  await refuseDuplicate(call, { url: draft.url, deviceId: draft.deviceId });
  const object = draft.playlist ? await keepPlaylist(call, draft.playlist) : null;
  try {
    const place = { ...placeOf(draft), ...(object !== null && { object }) };
    // a resource is declared before its device is switched on
    const tried = draft.managedBy ? { ok: true as const } : await triedPlace(call, place);
    return { row: await save(call, draft, { tried, object }), repeated: false };
  } catch (error) {
    await dropPlaylist(call, object);
    throw error;
  }
}

const placeOf = ({ kind, url, deviceId, headers, userAgent }: TunerDraft) => ({
  kind,
  ...(url && { url }),
  ...(deviceId && { deviceId }),
  ...(headers && { headers }),
  ...(userAgent && { userAgent }),
});

/** An HDHomeRun has an address or an id, a playlist an address or its text. */
function requireOnePlace({ kind, url, deviceId, playlist }: TunerDraft): void {
  const places = [url, deviceId, playlist].filter((place) => place !== undefined).length;
  if (places !== 1) throw invalid(['body', 'url'], 'one_place', 'exactly one of url, deviceId and playlist');
  if (kind === 'm3u' && deviceId)
    throw invalid(['body', 'deviceId'], 'not_of_kind', 'only an HDHomeRun has a device id');
  if (kind === 'hdhomerun' && playlist)
    throw invalid(['body', 'playlist'], 'not_of_kind', 'only a tuner of kind m3u has a playlist');
}

interface Same {
  url?: string | undefined;
  deviceId?: string | undefined;
  /** The tuner itself. */
  except?: string;
}

/** Throws 409 for the address or the device of another tuner. */
export async function refuseDuplicate({ db, deps }: Call, { url, deviceId, except }: Same): Promise<void> {
  for (const row of await listTunerRows(db)) {
    if (row.id === except) continue;
    const sameDevice = deviceId !== undefined && [row.device_id, row.device?.id].includes(deviceId.toUpperCase());
    const sameAddress = url !== undefined && sameText(url, secretsOf(deps.keys, row)?.url);
    if (sameDevice || sameAddress)
      throw conflict('duplicate-device', 'Another tuner has this device or address', { tunerId: row.id });
  }
}

const sameText = (one: string, other: string | undefined): boolean =>
  other !== undefined && new URL(one).href === new URL(other).href;

interface Checked {
  tried: Extract<Tried, { ok: true }>;
  object: string | null;
}

async function save(call: Call, draft: TunerDraft, { tried, object }: Checked): Promise<TunerRow> {
  const { db, deps, who } = call;
  await lockTuners(db);
  const found = tried.device?.id || draft.deviceId;
  await refuseDuplicate(call, { url: draft.url, deviceId: found });
  if ((await listTunerRows(db)).length >= MOST_TUNERS) throw conflict('tuner-limit', `At most ${MOST_TUNERS} tuners`);
  const id = newId();
  const row = { ...columnsOf(draft), id, device: tried.device ?? null, playlist_object: object };
  const secrets = { ...(draft.url && { url: draft.url }), ...(draft.headers && { headers: draft.headers }) };
  const slots = draft.slotCount ?? tried.slotCount ?? 1;
  await unlessTaken(() =>
    insertTunerRow(db, {
      ...row,
      slot_count: slots,
      own_slots: draft.slotCount !== undefined,
      secrets: sealSecrets(deps.keys, id, secrets),
    }),
  );
  await audit(call, 'tuner.created', { tunerId: id, name: draft.name });
  const saved = (await findTunerRow(db, id)) as TunerRow;
  if (saved.enabled) await requestScan(db, saved, { cause: 'person', byAccountId: who.accountId });
  return saved;
}

function placeColumns({ url, deviceId, headers, userAgent }: TunerDraft): Partial<TunerRow> {
  return {
    address: url ? maskedAddress(url) : null,
    device_id: deviceId?.toUpperCase() ?? null,
    header_names: Object.keys(headers ?? {}),
    user_agent: userAgent ?? null,
  };
}

function columnsOf(draft: TunerDraft): Omit<TunerRow, 'id' | 'slot_count' | 'own_slots' | 'secrets'> | TunerRow {
  return {
    library_id: draft.libraryId,
    name: draft.name,
    kind: draft.kind,
    managed_by: draft.managedBy ?? null,
    managed_fields: draft.managedBy ? declaredFields(draft) : [],
    ...placeColumns(draft),
    enabled: draft.enabled,
    priority: draft.priority,
    include: draft.include ?? null,
    exclude: draft.exclude ?? null,
    numbering: draft.numbering,
    buffer_minutes: draft.bufferMinutes ?? null,
    recordings_folder_id: draft.recordingsFolderId ?? null,
    refresh_hours: draft.refreshHours,
  } as TunerRow;
}

async function unlessTaken(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!breaks(error, 'live_tuners_device')) throw error;
    throw conflict('duplicate-device', 'Another tuner has this device');
  }
}
