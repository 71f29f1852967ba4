import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { sampledHashOf } from '#platform/sampled-hash.ts';
import { holdClocksOf } from './clocks.ts';
import { type KindId, kindOf, type Secrets, type Settings } from './kinds/kinds.ts';
import { mergedSecrets, parsedSettings, refusePlace, refuseSamePlace, requireSecrets, rivalsOf } from './places.ts';
import { openReader } from './readers/open.ts';
import { StorageFault, type StorageReader } from './readers/reader.ts';
import { personalReach } from './registry.ts';
import { getStorageRow, refuseManaged, requireWorking } from './saved.ts';
import { type Known, listKnown } from './states.store.ts';
import type { RelocateBody } from './storages.schemas.ts';
import {
  findStorageRow,
  lockStorageRow,
  lockStorages,
  type StorageRow,
  sealSecrets,
  secretsOf,
  updateStorageRow,
} from './storages.store.ts';

/** Part of the checked files that must match. */
const ENOUGH = 0.98;
const LIMIT_MS = 60_000;
const LANES = 4;
const SHOWN = 50;

/** What a sample of files showed. */
export interface Compared {
  /** Files of the sample; those that could not be read are not checked. */
  total: number;
  checked: number;
  matched: number;
  missing: string[];
  differing: string[];
}

/** Points a storage at a new place with the same files. Throws 409 `content-differs` unless nearly all match. */
export async function relocate(call: Call, id: string, body: RelocateBody): Promise<Compared & { row: StorageRow }> {
  const row = await getStorageRow(call, id);
  refuseManaged(call, row, ['settings']);
  const target = await targetOf(call, row, body);
  await requireWorking(call, { ...target, readOnly: true, ownerId: row.owner_id, write: false });
  const compared = await compareAt(call, row, { target, sample: body.sample });
  const unproved = compared.checked < Math.ceil(compared.total / 2); // most could not be read
  const few = unproved || compared.matched < Math.ceil(compared.checked * ENOUGH);
  if (few && !body.force && !body.dryRun)
    throw conflict('content-differs', 'The files are other ones', { ...compared });
  if (!body.dryRun) await call.transact((inside) => move(inside, row, target));
  const after = await findStorageRow(call.db, id);
  if (!after) throw notFound();
  return { ...compared, row: after };
}

interface Target {
  kind: KindId;
  settings: Settings;
  secrets: Secrets;
}

/** Saved secrets are used only at the same host, so that they cannot be sent elsewhere. */
async function targetOf(
  call: Call,
  row: StorageRow,
  { kind = row.kind, settings, secrets = {} }: RelocateBody,
): Promise<Target> {
  const parsed = parsedSettings(kind, kind === row.kind ? { ...row.settings, ...settings } : settings);
  requireSecrets(kind, secrets);
  await refusePlace(call, { kind, settings: parsed, personal: personalReach(row.owner_id) });
  const { where } = kindOf(kind);
  const same = kind === row.kind && where(parsed).host === where(row.settings).host;
  const saved = same ? secretsOf(call.deps.keys, row) : {};
  return { kind, settings: parsed, secrets: mergedSecrets(saved, secrets) };
}

async function compareAt(
  call: Call,
  row: StorageRow,
  { target, sample }: { target: Target; sample: number },
): Promise<Compared> {
  const files = await listKnown(call.db, row.id, sample);
  const reader = openReader(call.deps, { ...target, personal: personalReach(row.owner_id) });
  try {
    return await compare(reader, files);
  } finally {
    await reader.close();
  }
}

/** Files that were not reached in a minute count as unchecked. */
export async function compare(reader: StorageReader, files: readonly Known[]): Promise<Compared> {
  const end = performance.now() + LIMIT_MS;
  const rest = [...files];
  const found: Compared = { total: files.length, checked: 0, matched: 0, missing: [], differing: [] };
  const lane = async (): Promise<void> => {
    for (let file = rest.shift(); file && performance.now() < end; file = rest.shift()) {
      const result = await compareOne(reader, file);
      if (result === 'unchecked') continue;
      found.checked += 1;
      if (result === 'same') found.matched += 1;
      else if (found[result].length < SHOWN) found[result].push(file.path);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return found;
}

async function compareOne(
  reader: StorageReader,
  { path, size, hash }: Known,
): Promise<'same' | 'missing' | 'differing' | 'unchecked'> {
  try {
    const there = await reader.stat(path);
    if (there?.kind !== 'file') return 'missing';
    if (there.size !== size) return 'differing';
    const seen = await sampledHashOf((start, length) => reader.read(path, { start, length }), size);
    return hash === null || seen.equals(hash) ? 'same' : 'differing';
  } catch (error) {
    if (error instanceof StorageFault) return 'unchecked';
    throw error;
  }
}

/** Its marker and sample belong to the old place; the watcher makes new ones and a quick scan follows. */
async function move(call: Call, { id }: StorageRow, { kind, settings, secrets }: Target): Promise<void> {
  const { db, deps } = call;
  await lockStorages(db);
  const row = await lockStorageRow(db, id);
  if (!row) throw notFound();
  refuseSamePlace(await rivalsOf(db, row), { kind, settings });
  const now = new Date();
  await updateStorageRow(db, id, {
    ...{ kind, settings, secrets: sealSecrets(deps.keys, id, secrets), epoch: Number(row.epoch) + 1 },
    ...{ identity: {}, marked_at: null, capacity: null, latency_ms: null },
    ...{ state: 'available', reason: null, state_since: now, returned_at: now },
  });
  await holdClocksOf(db, row);
  await audit(call, 'storage.relocated', { storageId: id, name: row.name, kind });
}
