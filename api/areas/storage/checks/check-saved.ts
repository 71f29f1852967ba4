import type { Call } from '#kernel/endpoint.ts';
import { withoutFail } from '#platform/redis.ts';
import { kindOf } from '../kinds/kinds.ts';
import { StorageCheck } from '../storages.schemas.ts';
import { noteCheck, type StorageRow } from '../storages.store.ts';
import { type Checked, describeCheck } from './check.ts';
import { observeStorage } from './observe.ts';
import { type PodSight, questionPods } from './pods.ts';

/** Callers within this time share one result. */
const SHARED_MS = 5000;
const running = new Map<string, Promise<StorageCheck>>();

/** Checks a storage now, mounts from every process too. The result is written like that of a regular check. */
export async function checkSaved(call: Call, row: StorageRow): Promise<StorageCheck> {
  const key = `foyer:storage-checked:${row.id}`;
  const { redis } = call.deps;
  const recent = await withoutFail(() => redis.get(key), null);
  if (recent !== null) return StorageCheck.parse(JSON.parse(recent));
  const known = running.get(row.id);
  if (known) return known;
  const check = checkNow(call, row).finally(() => running.delete(row.id));
  running.set(row.id, check);
  const found = await check;
  await withoutFail(() => redis.set(key, JSON.stringify(found), 'PX', SHARED_MS), null);
  return found;
}

async function checkNow(call: Call, row: StorageRow): Promise<StorageCheck> {
  const { db, deps } = call;
  const [checked, pods] = await Promise.all([
    observeStorage(deps, row),
    row.kind === 'mount' ? questionPods(deps, row.id) : undefined,
  ]);
  const agreed = pods ? agreedWith(checked, pods) : checked;
  await noteCheck(db, row.id, { latencyMs: checked.latencyMs, space: checked.space, good: checked.ok });
  if (!row.enabled) return describe(row, { ...agreed, state: 'disabled' }, pods);
  return describe(row, agreed, pods);
}

function describe(row: StorageRow, checked: Checked, pods: PodSight[] | undefined): StorageCheck {
  const capabilities = checked.ok ? { capabilities: kindOf(row.kind).capabilities } : {};
  return describeCheck(checked, { storageId: row.id, ...(pods && { pods }), ...capabilities });
}

/** A mount that most processes read is degraded for the sake of the others. */
function agreedWith(checked: Checked, pods: readonly PodSight[]): Checked {
  const failing = pods.filter(({ ok }) => !ok);
  if (failing.length === 0 || failing.length * 2 > pods.length) return checked;
  return {
    ...checked,
    ok: true,
    state: 'degraded',
    reason: 'some-pods-only',
    message: 'some processes cannot read it',
  };
}
