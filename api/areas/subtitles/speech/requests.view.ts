import { findItemSummaries, findStreams, type SubtitleTrack } from '#areas/items/public.ts';
import { isEditingAdmin } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import { batchesRest, type Place, placesInLine } from './line.store.ts';
import { countSpeechWorkers, findModel, paceOf } from './models.store.ts';
import type { RequestRow } from './requests.store.ts';
import type { GenerationRequest } from './speech.schemas.ts';

type Reader = Pick<Call, 'db' | 'deps' | 'who'>;

/** What estimates are made of. */
export interface Speed {
  /** Seconds of work a minute of sound; undefined while unknown. */
  pace: number | undefined;
  workers: number;
}

/** The speed of this server with its chosen model. */
export async function speedOf({ db, deps }: Pick<Call, 'db' | 'deps'>): Promise<Speed> {
  const pace = paceOf(await findModel(db, deps.settings.get('subtitles.model')));
  return { pace, workers: await countSpeechWorkers(db) };
}

/** Seconds of work for so much sound. */
export function secondsFor(ms: number, { pace, workers }: Speed): number {
  return Math.ceil(((ms / 60_000) * (pace ?? 0)) / Math.max(1, workers));
}

interface Facts {
  speed: Speed;
  resting: boolean;
  places: Map<string, Place>;
  tracks: Map<string, SubtitleTrack>;
  names: Map<string, string>;
  items: Awaited<ReturnType<typeof findItemSummaries>>;
}

/** Requests as the caller may see them. */
export async function showRequests(
  call: Reader,
  rows: readonly RequestRow[],
  { item }: { item: boolean },
): Promise<GenerationRequest[]> {
  const { db, who } = call;
  const open = rows.filter(isOpen);
  const facts: Facts = {
    speed: open.length > 0 ? await speedOf(call) : { pace: undefined, workers: 0 },
    resting: open.some((row) => row.batch_id !== null) && (await batchesRest(db)),
    places: await placesOf(call, open),
    tracks: await tracksOf(call, rows),
    names: await namesOf(call, rows),
    items: item ? await findItemSummaries(db, who, [...new Set(rows.map((row) => row.item_id))]) : new Map(),
  };
  return rows.map((row) => showRequest(call, row, facts));
}

const isOpen = ({ state }: RequestRow): boolean => state === 'waiting' || state === 'running';

async function placesOf({ db }: Reader, open: readonly RequestRow[]): Promise<Map<string, Place>> {
  const waiting = open.filter(({ state }) => state === 'waiting').map(({ id }) => id);
  return waiting.length > 0 ? placesInLine(db, waiting) : new Map();
}

async function tracksOf({ db, who }: Reader, rows: readonly RequestRow[]): Promise<Map<string, SubtitleTrack>> {
  const files = [...new Set(rows.filter(({ stream_id: made }) => made !== null).map((row) => row.file_id))];
  const streams = await findStreams(
    db,
    who,
    files.map((id) => ({ id })),
  );
  return new Map([...streams.values()].flat().map((stream) => [stream.id, stream as SubtitleTrack]));
}

async function namesOf({ db, who }: Reader, rows: readonly RequestRow[]): Promise<Map<string, string>> {
  const ids = [...new Set(rows.flatMap((row) => row.account_id ?? []))];
  if (!isEditingAdmin(who) || ids.length === 0) return new Map();
  const found = await db('accounts').whereIn('id', ids).select('id', 'display_name');
  return new Map(found.map((row) => [row.id, row.display_name]));
}

function showRequest({ who }: Reader, row: RequestRow, facts: Facts): GenerationRequest {
  const item = facts.items.get(row.item_id);
  const subtitle = row.stream_id ? facts.tracks.get(row.stream_id) : undefined;
  return {
    ...{ id: row.id, itemId: row.item_id, fileId: row.file_id, audioStreamId: row.audio_stream_id },
    ...(item && { item }),
    language: row.language,
    ...(row.spoken && { spokenLanguage: row.spoken }),
    ...{ task: row.task, model: row.model, state: row.state, progress: progressOf(row) },
    ...{ heardMs: row.heard_ms, durationMs: row.duration_ms },
    ...(isOpen(row) && prospects(row, facts)),
    ...(row.batch_id && { batchId: row.batch_id }),
    mine: row.account_id === who.accountId,
    ...requesterOf(row, facts),
    attempts: row.attempts,
    ...(row.error && { error: row.error }),
    ...(subtitle && { subtitle }),
    ...times(row),
  };
}

function requesterOf({ account_id: userId }: RequestRow, { names }: Facts): Pick<GenerationRequest, 'requestedBy'> {
  const displayName = names.get(userId ?? '');
  return userId && displayName !== undefined ? { requestedBy: { userId, displayName } } : {};
}

function progressOf({ state, heard_ms: heard, duration_ms: duration }: RequestRow): number {
  if (state === 'finished') return 1;
  return duration > 0 ? Math.min(1, heard / duration) : 0;
}

function times(row: RequestRow): Pick<GenerationRequest, 'createdAt' | 'startedAt' | 'finishedAt'> {
  return {
    createdAt: iso(row.created_at),
    ...(row.started_at && { startedAt: iso(row.started_at) }),
    ...(row.finished_at && { finishedAt: iso(row.finished_at) }),
  };
}

/** Time left, place in the line and obstacle of a request that waits or runs. */
function prospects(
  row: RequestRow,
  { speed, resting, places }: Facts,
): Pick<GenerationRequest, 'secondsLeft' | 'waitingBefore' | 'pausedFor'> {
  const place = places.get(row.id);
  const ownMs = Math.max(0, row.duration_ms - row.heard_ms);
  const alone = { pace: speed.pace, workers: 1 }; // one worker hears a film
  const pausedFor = row.batch_id && resting ? 'streaming' : speed.workers === 0 ? 'worker' : undefined;
  return {
    ...(speed.pace !== undefined && {
      secondsLeft: secondsFor(ownMs, alone) + secondsFor(place?.beforeMs ?? 0, speed),
    }),
    ...(place && { waitingBefore: place.before }),
    ...(pausedFor && { pausedFor }),
  };
}
