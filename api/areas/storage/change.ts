import { isDeepStrictEqual } from 'node:util';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import type { Checked } from './checks/check.ts';
import { expectedOf } from './checks/expected.ts';
import { holdClocksOf } from './clocks.ts';
import { admitDrive } from './drives/drives.ts';
import { isSamePlace, kindOf, type Secrets, type Settings } from './kinds/kinds.ts';
import {
  mergedSecrets,
  parsedSettings,
  refuseName,
  refusePlace,
  refuseSamePlace,
  requireSecrets,
  rivalsOf,
} from './places.ts';
import { personalReach } from './registry.ts';
import { getStorageRow, refuseManaged, requireWorking, tryPlace } from './saved.ts';
import { emitState, isUnavailable } from './states.store.ts';
import type { StorageChange } from './storages.schemas.ts';
import {
  librariesOn,
  lockStorageRow,
  lockStorages,
  type StorageRow,
  sealSecrets,
  secretsOf,
  updateStorageRow,
} from './storages.store.ts';

interface Planned {
  settings: Settings;
  secrets: Secrets;
  readOnly: boolean;
}

/** Changes a storage. Throws 400, 403, 404 and 409 as updateStorage describes. */
export async function changeStorage(call: Call, id: string, change: StorageChange): Promise<StorageRow> {
  const row = await getStorageRow(call, id);
  const { name: _name, enabled: _enabled, check, ...owned } = change;
  refuseManaged(call, row, Object.keys(owned));
  const planned = planOf(call, row, change);
  const moved = await refuseMove(call, row, planned.settings);
  const differs = !isDeepStrictEqual(planned, currentOf(call, row));
  if (differs && row.owner_id === call.who.accountId) await admitDrive(call);
  if (moved) await refusePlace(call, { ...row, ...planned, personal: personalReach(row.owner_id) });
  const wanted = change.enabled ?? row.enabled;
  if (check && differs && wanted) await requireWorking(call, await tryingOf(call, row, planned));
  // before it is trusted: another disk may be at its place by now
  const seen =
    wanted && !row.enabled
      ? await tryPlace(call, { ...(await tryingOf(call, row, planned)), write: false })
      : undefined;
  return call.transact((inside) => write(inside, { row, change, planned, moved, seen }));
}

function currentOf({ deps }: Call, row: StorageRow): Planned {
  return { settings: row.settings, secrets: secretsOf(deps.keys, row), readOnly: row.read_only };
}

/** A drive stays read-only. */
function planOf(call: Call, row: StorageRow, { settings, secrets = {}, readOnly }: StorageChange): Planned {
  const before = currentOf(call, row);
  requireSecrets(row.kind, secrets);
  const wanted = settings ? parsedSettings(row.kind, { ...row.settings, ...settings }) : before.settings;
  const { where } = kindOf(row.kind);
  const isSameHost = where(wanted).host === where(row.settings).host;
  return {
    settings: wanted,
    secrets: mergedSecrets(isSameHost ? before.secrets : {}, secrets), // saved ones are never sent elsewhere
    readOnly: row.owner_id === null ? (readOnly ?? row.read_only) : true,
  };
}

/** Another place needs relocateStorage while folders use the storage; secrets are never sent to another host. */
async function refuseMove(call: Call, row: StorageRow, settings: Settings): Promise<boolean> {
  const { where } = kindOf(row.kind);
  if (isSamePlace(where(settings), where(row.settings))) return false;
  const libraries = await librariesOn(call.db, [row.id]);
  if (libraries.length > 0)
    throw conflict('use-relocate', 'Libraries have folders on it: relocate it instead', {
      libraries: libraries.map(({ id, name }) => ({ id, name })),
    });
  return true;
}

async function tryingOf({ db, deps }: Call, row: StorageRow, planned: Planned) {
  const marked = row.marked_at !== null && !planned.readOnly;
  const expected = await expectedOf(db, deps.keys.serverId, row);
  const place = { kind: row.kind, ownerId: row.owner_id, write: !planned.readOnly && row.read_only };
  return { ...place, ...planned, expected: { ...expected, marked } };
}

interface Writing {
  row: StorageRow;
  change: StorageChange;
  planned: Planned;
  moved: boolean;
  /** What a check saw of a storage that is switched on. */
  seen: Checked | undefined;
}

async function write(call: Call, { row: { id }, change, planned, moved, seen }: Writing): Promise<StorageRow> {
  const { db } = call;
  await lockStorages(db);
  const row = await lockStorageRow(db, id);
  if (!row) throw notFound();
  const rivals = await rivalsOf(db, row);
  if (change.name !== undefined) refuseName(rivals, change.name);
  if (moved) refuseSamePlace(rivals, { kind: row.kind, settings: planned.settings });
  const { name = row.name } = change;
  await updateStorageRow(db, id, columnsOf(call, row, { change, planned, moved, seen }));
  await audit(call, 'storage.changed', { storageId: id, name, fields: Object.keys(change) });
  const after = await lockStorageRow(db, id);
  if (!after) throw notFound();
  if (!row.enabled && isServed(after)) await holdClocksOf(db, row);
  if (isServed(row) !== isServed(after)) await emitState(db, { id, back: isServed(after), owner: row.owner_id });
  return after;
}

function columnsOf(
  { deps }: Call,
  row: StorageRow,
  { change, planned, moved, seen }: Omit<Writing, 'row'>,
): Partial<StorageRow> {
  const { name = row.name, enabled = row.enabled } = change;
  const { settings, readOnly } = planned;
  return {
    ...{ name, settings, read_only: readOnly, enabled },
    ...((change.secrets || moved) && { secrets: sealSecrets(deps.keys, row.id, planned.secrets) }),
    ...(readOnly !== row.read_only && { marked_at: null }),
    ...(moved && { epoch: Number(row.epoch) + 1, identity: {}, marked_at: null }),
    ...(enabled !== row.enabled && stateAfter(row, enabled ? seen : undefined)),
  };
}

/** Switching a storage off is an outage like another. One that began before keeps its beginning. */
function stateAfter(row: StorageRow, seen: Checked | undefined): Partial<StorageRow> {
  const { state = 'unavailable', reason = null } = seen ?? {};
  const back = !isUnavailable(state);
  return {
    ...{ state, reason: state === 'available' ? null : reason },
    ...((back || !isUnavailable(row.state)) && { state_since: new Date() }),
    returned_at: back ? new Date() : null,
  };
}

const isServed = ({ enabled, state }: StorageRow): boolean => enabled && !isUnavailable(state);
