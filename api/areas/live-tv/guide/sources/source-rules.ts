// Rules that creating and changing a guide source share.
import { Cron } from 'croner';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, notFound } from '#kernel/errors.ts';
import type { ManagedBy } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import type { Keys } from '#platform/keys.ts';
import type { Objects } from '#platform/objects.ts';
import { enqueue, startNow } from '#platform/queue.ts';
import type { GuidePlace } from './orders.ts';
import {
  addressOf,
  findSourceRow,
  listSourceRows,
  markOfAddress,
  ownGuideOf,
  type SourceRow,
} from './sources.store.ts';

export const MOST_SOURCES = 50;
/** Fields that a resource declares. */
export const MANAGED = ['name', 'url', 'headers', 'refreshCron', 'days', 'tunerId'] as const;

const BUCKET = 'foyer-live';
const FOLDER = 'sources/guide/';
/** Uploaded guides in pieces. */
export const guideParts = {
  bucket: BUCKET,
  folder: FOLDER,
  pieceBytes: 8 << 20,
  keyOf: (id: string, number: number): string => `${FOLDER}${id}/${String(number).padStart(5, '0')}`,
} as const;

export const dropUpload = async (objects: Objects, id: string | null | undefined): Promise<void> => {
  if (id) await objects.removePrefix(BUCKET, `${FOLDER}${id}/`);
};

/** The bytes of an uploaded guide. */
export async function* uploadedBytes(objects: Objects, id: string): AsyncGenerator<Buffer> {
  for (let number = 0; ; number += 1) {
    const key = guideParts.keyOf(id, number);
    if (!(await objects.stat(BUCKET, key))) return;
    yield* (await objects.get(BUCKET, key)) as AsyncIterable<Buffer>;
  }
}

export async function getSource(db: Db, id: string): Promise<SourceRow> {
  const row = await findSourceRow(db, id);
  if (!row) throw notFound();
  return row;
}

/** Only the operator's key may say which resource owns a source. */
export function refuseForeignManager({ who }: Call, managedBy: ManagedBy | null | undefined): void {
  if (managedBy !== undefined && !who.operator)
    throw new ApiError('FORBIDDEN', 'Only the operator may set managedBy', { by: 'operator' });
}

/** Throws 409 for fields that a resource declares; `source` is the source itself. */
export function refuseManaged({ who }: Call, row: SourceRow, fields: readonly string[]): void {
  if (!row.managed_by || who.operator) return;
  const owned = fields.filter((field) => field === 'source' || row.managed_fields.includes(field));
  if (owned.length === 0) return;
  throw conflict('managed-by-resource', 'A Kubernetes resource owns this', {
    fields: owned,
    managedBy: row.managed_by,
  });
}

/** Throws 409 for the address or the tuner of another source. */
export async function refuseDuplicate(
  { db, deps }: Call,
  { url, tunerId, except }: { url?: string | undefined; tunerId?: string | undefined; except?: string },
): Promise<void> {
  const mark = url === undefined ? undefined : markOfAddress(deps.keys, url);
  const same = (await listSourceRows(db)).find(
    (row) =>
      row.id !== except &&
      ((mark !== undefined && row.address_mark === mark) || (tunerId !== undefined && row.tuner_id === tunerId)),
  );
  if (same) throw conflict('duplicate-source', 'Another source has this guide', { sourceId: same.id });
}

/** Where the guide of a saved source stands; undefined while its tuner names none. */
export async function guidePlaceOf(db: Db, keys: Keys, row: SourceRow): Promise<GuidePlace | undefined> {
  if (row.upload_id !== null) return { uploadId: row.upload_id };
  if (row.tuner_id === null) return addressOf(keys, row);
  const url = await ownGuideOf(db, keys, row.tuner_id);
  return url === undefined ? undefined : { url };
}

/** The next refresh by the schedule of the source, in the time zone of the server. */
export function nextRefresh(
  { refresh_cron: cron, refresh_hours: hours }: Pick<SourceRow, 'refresh_cron' | 'refresh_hours'>,
  { after, timezone }: { after: Date; timezone: string },
): Date {
  const byHours = new Date(after.getTime() + hours * 3_600_000);
  if (cron === null) return byHours;
  return new Cron(cron, { paused: true, mode: '5-part', timezone }).nextRun(after) ?? byHours;
}

interface Requested {
  id: string;
  /** It waited or ran already. */
  known: boolean;
}

/** Queues a refresh; one that waits for its next attempt starts now. */
export async function requestRefresh(
  { db, who }: Pick<Call, 'db' | 'who'>,
  row: Pick<SourceRow, 'id' | 'name'>,
): Promise<Requested> {
  const open = await db('jobs')
    .where({ kind: 'live.guide' })
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .whereRaw(`payload->>'sourceId' = ?`, [row.id])
    .orderByRaw(`state = 'active' desc, id`)
    .first('id', 'state', 'queue', 'priority');
  if (open) {
    await startNow(db, open);
    return { id: open.id, known: true };
  }
  const id = await enqueue(db, 'live.guide', {
    payload: { sourceId: row.id },
    options: {
      ...{ key: `live.guide:${row.id}`, cause: who.operator ? 'resource' : 'person', priority: 30 },
      ...{ target: { kind: 'guide-source', id: row.id, title: row.name } },
      ...(who.accountId && { byAccountId: who.accountId }),
    },
  });
  return { id, known: false };
}
