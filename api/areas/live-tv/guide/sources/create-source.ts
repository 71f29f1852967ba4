import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import { maskedAddress } from '../addresses.ts';
import { type GuidePlace, tryGuide } from './orders.ts';
import {
  dropUpload,
  getSource,
  MANAGED,
  MOST_SOURCES,
  refuseDuplicate,
  refuseForeignManager,
  requestRefresh,
} from './source-rules.ts';
import type { GuideSourceDraft } from './sources.schemas.ts';
import {
  insertSourceRow,
  listSourceRows,
  lockSources,
  markOfAddress,
  ownGuideOf,
  type SourceRow,
  sealAddress,
} from './sources.store.ts';

/** Saves a source whose guide answers, and queues its refresh. Throws 400, 403, 404, 409 and 502 as createGuideSource describes. */
export async function createSource(
  call: Call,
  draft: GuideSourceDraft,
): Promise<{ row: SourceRow; repeated: boolean }> {
  try {
    refuseForeignManager(call, draft.managedBy);
    const made = await findManaged(call, draft);
    if (made) {
      await dropUpload(call.deps.objects, draft.file?.id);
      return { row: made, repeated: true };
    }
    const place = await placeOf(call, draft);
    await refuseDuplicate(call, draft);
    if (!draft.managedBy) await tryGuide(call, place); // a resource is declared before its guide is there
    return { row: await save(call, draft), repeated: false };
  } catch (error) {
    await dropUpload(call.deps.objects, draft.file?.id);
    throw error;
  }
}

async function findManaged({ db }: Call, { managedBy, name }: GuideSourceDraft): Promise<SourceRow | undefined> {
  if (!managedBy) return undefined;
  const rows = await listSourceRows(db);
  return rows.find((row) => row.managed_by?.uid === managedBy.uid && row.name === name);
}

/** Throws 400 unless the draft names one place of its kind, and 409 for a tuner without a guide. */
async function placeOf(call: Call, { kind, url, tunerId, file, headers }: GuideSourceDraft): Promise<GuidePlace> {
  if ([url, tunerId, file].filter((place) => place !== undefined).length !== 1)
    throw invalid(['body'], 'one_place', 'exactly one of url, tunerId and file');
  if ((kind === 'tuner') !== (tunerId !== undefined))
    throw invalid(['body', 'kind'], 'not_of_kind', 'a source of kind tuner has a tunerId, one of kind xmltv none');
  if (headers && url === undefined) throw invalid(['body', 'headers'], 'not_of_kind', 'only a url has headers');
  if (file) return { uploadId: file.id };
  if (url !== undefined) return { url, ...(headers && { headers }) };
  return { url: await ownGuide(call, tunerId ?? '') };
}

async function ownGuide({ db, deps }: Call, tunerId: string): Promise<string> {
  if (!(await db('live_tuners').where({ id: tunerId }).first('id'))) throw notFound();
  const own = await ownGuideOf(db, deps.keys, tunerId);
  if (own === undefined) throw conflict('no-own-guide', 'The tuner names no guide of its own');
  return own;
}

async function save(call: Call, draft: GuideSourceDraft): Promise<SourceRow> {
  const { db } = call;
  await lockSources(db);
  await refuseDuplicate(call, draft);
  if ((await listSourceRows(db)).length >= MOST_SOURCES)
    throw conflict('source-limit', `At most ${MOST_SOURCES} guide sources`);
  const id = newId();
  await insertSourceRow(db, rowOf(call, id, draft));
  await audit(call, 'guide-source.created', { sourceId: id, name: draft.name });
  const row = await getSource(db, id);
  if (row.enabled) await requestRefresh(call, row);
  return row;
}

function rowOf({ deps: { keys } }: Call, id: string, draft: GuideSourceDraft) {
  const { url, headers, managedBy } = draft;
  return {
    ...{ id, name: draft.name, kind: draft.kind, tuner_id: draft.tunerId ?? null, upload_id: draft.file?.id ?? null },
    ...(url !== undefined && { address: maskedAddress(url), address_mark: markOfAddress(keys, url) }),
    secrets: sealAddress(keys, id, { ...(url !== undefined && { url }), ...(headers && { headers }) }),
    header_names: Object.keys(headers ?? {}),
    ...(managedBy && { managed_by: managedBy, managed_fields: [...MANAGED] }),
    ...{ enabled: draft.enabled, priority: draft.priority, refresh_hours: draft.refreshHours },
    ...{ refresh_cron: draft.refreshCron ?? null, days: draft.days, shift_minutes: draft.shiftMinutes },
  };
}
