import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { maskedAddress } from '../addresses.ts';
import { markStale } from '../stale.ts';
import { type GuidePlace, tryGuide } from './orders.ts';
import {
  dropUpload,
  getSource,
  MANAGED,
  nextRefresh,
  refuseDuplicate,
  refuseForeignManager,
  refuseManaged,
  requestRefresh,
} from './source-rules.ts';
import type { GuideSourceChange } from './sources.schemas.ts';
import {
  addressOf,
  deleteSourceRow,
  type GuideAddress,
  lockSources,
  markOfAddress,
  type SourceRow,
  sealAddress,
  updateSourceRow,
} from './sources.store.ts';
import { findState, putState } from './states.store.ts';

/** Throws 400, 403, 404, 409 and 502 as updateGuideSource describes. */
export async function changeSource(call: Call, id: string, change: GuideSourceChange): Promise<SourceRow> {
  const { objects } = call.deps;
  try {
    refuseForeignManager(call, change.managedBy);
    const row = await getSource(call.db, id);
    refuseManaged(call, row, Object.keys(change));
    const place = placeAfter(call, row, change);
    if (place) await tryGuide(call, place);
    const saved = await save(call, row, { change, place });
    if (change.file) call.afterCommit(() => dropUpload(objects, row.upload_id));
    return saved;
  } catch (error) {
    await dropUpload(objects, change.file?.id);
    throw error;
  }
}

/** The place that the change gives the source; undefined without a new one. Throws 400 for one of another kind. */
function placeAfter({ deps: { keys } }: Call, row: SourceRow, change: GuideSourceChange): GuidePlace | undefined {
  const { file, headers } = change;
  const url = change.url === row.address ? undefined : change.url;
  if (file && row.upload_id === null) throw invalid(['body', 'file'], 'not_of_kind', 'the guide was not uploaded');
  if (file) return { uploadId: file.id };
  if (url === undefined && headers === undefined) return undefined;
  const member = url === undefined ? 'headers' : 'url';
  if (row.address === null) throw invalid(['body', member], 'not_of_kind', 'the source has no address');
  return addressAfter(addressOf(keys, row), { url, headers });
}

/** Headers are not sent to another origin, which would get the credentials of the first one. */
function addressAfter(
  before: GuideAddress,
  { url, headers }: { url: string | undefined; headers: Record<string, string> | undefined },
): GuidePlace {
  const kept = url === undefined || sameOrigin(url, before.url) ? before.headers : undefined;
  return given({ url: url ?? before.url, headers: headers ?? kept });
}

/** Only the members that have a value. */
const given = <T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never;

const sameOrigin = (one: string, other: string | undefined): boolean =>
  other !== undefined && new URL(one).origin === new URL(other).origin;

interface Changing {
  change: GuideSourceChange;
  place: GuidePlace | undefined;
}

async function save(call: Call, row: SourceRow, { change, place }: Changing): Promise<SourceRow> {
  const { db } = call;
  const { id } = row;
  await lockSources(db);
  if (place?.url !== undefined) await refuseDuplicate(call, { url: place.url, except: id });
  await updateSourceRow(db, id, columnsOf(call, id, { change, place }));
  await audit(call, 'guide-source.changed', { sourceId: id, fields: Object.keys(change) });
  const after = await getSource(db, id);
  await reschedule(call, after);
  await markStale(db);
  const reads = place || after.days !== row.days || after.shift_minutes !== row.shift_minutes;
  if (reads) await putState(db, id, { etag: null, last_modified: null });
  if (after.enabled && (reads || !row.enabled)) await requestRefresh(call, after);
  return after;
}

function columnsOf({ deps: { keys } }: Call, id: string, { change, place }: Changing): Partial<SourceRow> {
  const { url, headers } = place ?? {};
  const { managedBy, file } = change;
  return {
    ...given({ name: change.name, enabled: change.enabled, priority: change.priority, days: change.days }),
    ...given({ refresh_hours: change.refreshHours, refresh_cron: change.refreshCron, upload_id: file?.id }),
    ...given({ shift_minutes: change.shiftMinutes }),
    ...(url !== undefined && {
      ...{ address: maskedAddress(url), address_mark: markOfAddress(keys, url) },
      secrets: sealAddress(keys, id, { url, ...(headers && { headers }) }),
      header_names: Object.keys(headers ?? {}),
    }),
    ...(managedBy !== undefined && { managed_by: managedBy, managed_fields: managedBy ? [...MANAGED] : [] }),
  };
}

/** The next refresh follows a changed schedule. */
async function reschedule({ db, deps }: Call, row: SourceRow): Promise<void> {
  const state = await findState(db, row.id);
  if (!state?.refreshed_at || state.failures > 0) return;
  const timezone = deps.settings.get('server.timeZone');
  await putState(db, row.id, { next_at: nextRefresh(row, { after: state.refreshed_at, timezone }) });
}

/** Its mappings and programmes leave the guide at once; the rows are deleted in batches. */
export async function deleteSource(call: Call, id: string): Promise<void> {
  const { db, deps } = call;
  const row = await getSource(db, id);
  refuseManaged(call, row, ['source']);
  await deleteSourceRow(db, id);
  await markStale(db);
  await audit(call, 'guide-source.deleted', { sourceId: id, name: row.name });
  await call.enqueue('live.trim', {}, { key: 'live.trim' });
  call.afterCommit(() => dropUpload(deps.objects, row.upload_id));
}
