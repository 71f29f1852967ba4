import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { lockSchedule } from '../schedule/schedule.store.ts';
import { type Airing, airingOf, timeOf } from './airing.ts';
import { planNow } from './plan-now.ts';
import type { RecordingDraft } from './recordings.schemas.ts';
import { countOpen, findSame, getById, insertRecording, type RecordingRow } from './recordings.store.ts';
import { chooseTarget, requireQuota } from './target.ts';

/** Recordings of an account that are planned or running. */
export const MOST_OPEN = 500;

/**
 * Plans a recording, or finds the one that is planned already. Throws 400, 403, 404, 409 and 415 as createRecording describes.
 */
export async function createRecordingOf(
  call: Call,
  draft: RecordingDraft,
): Promise<{ row: RecordingRow; known: boolean }> {
  const { db } = call;
  const airing = await wantedAiring(call, draft);
  await lockSchedule(db);
  const same = await findSame(db, airing);
  if (same) return { row: same, known: true };
  if ((await countOpen(db, call.who.accountId)) >= MOST_OPEN)
    throw conflict('recording-limit', `At most ${MOST_OPEN} recordings are planned`);
  await requireQuota(call);
  const id = await insertRecording(db, { ...airing, ...(await optionsOf(call, draft, airing)) });
  await planNow(call);
  return { row: await getById(db, id), known: false };
}

async function wantedAiring(
  call: Call,
  { programId, channelId, startAt, endAt, title }: RecordingDraft,
): Promise<Airing> {
  if (programId !== undefined) return airingOf(call, programId);
  return timeOf(call, {
    ...{ channelId: String(channelId), startAt: new Date(String(startAt)), endAt: new Date(String(endAt)), title },
  });
}

async function optionsOf({ deps, ...call }: Call, draft: RecordingDraft, { channel_id: channelId }: Airing) {
  const { libraryId, folderId } = await chooseTarget({ deps, ...call }, { ...draft, channelId });
  return {
    account_id: call.who.accountId,
    start_pad_ms: draft.startPadMs ?? deps.settings.get('dvr.startPadMs'),
    end_pad_ms: draft.endPadMs ?? deps.settings.get('dvr.endPadMs'),
    ...{ priority: draft.priority, library_id: libraryId, folder_id: folderId },
    ...{ keep_days: draft.keepDays ?? null, from_buffer: draft.fromBuffer },
  };
}
