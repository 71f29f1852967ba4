import { isEditingAdmin } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid, notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { rowsOf } from '#platform/rows.ts';
import {
  type BatchRow,
  cancelBatch,
  countBatch,
  findEpisodes,
  findNamed,
  insertBatch,
  lockBatch,
} from './batches.store.ts';
import { type Film, findFilms } from './films.view.ts';
import { chosenModel, namedLanguage } from './generate.ts';
import { insertRequests, type NewRequest, settleBatch } from './requests.store.ts';
import { secondsFor, speedOf } from './requests.view.ts';
import type { BatchAnswer, BatchBody, SkipReason, SubtitleBatch } from './speech.schemas.ts';
import { alreadyMade, HEARD_TYPES, personMade, requestFor, soundtrackOf, type TrackOptions } from './wanted.ts';

const MOST = 5000;

/** Throws 403 for callers who are no administrators with `item:edit`. */
function requireAdmin({ who }: Call): void {
  if (!isEditingAdmin(who)) throw new ApiError('FORBIDDEN', 'This is for administrators', { by: 'subtitle-tools' });
}

/** Requests the subtitles of films and of all episodes of seasons and shows; with `dryRun` it only counts. */
export async function requestBatch(call: Call, body: BatchBody): Promise<BatchAnswer> {
  requireAdmin(call);
  const model = await chosenModel(call);
  const options: TrackOptions = { language: namedLanguage(body.language, model), task: body.task, model };
  const { ids, wrong } = await expand(call, body.itemIds);
  const films = await findFilms(call.db, ids, undefined);
  const open = await openOf(call, [...films.values()]);
  const judged = ids.map((itemId) => ({ itemId, ...judge(films.get(itemId), { options, force: body.force, open }) }));
  const wanted = judged.flatMap((one) => ('request' in one ? [one.request] : []));
  const skipped = [
    ...wrong.map((itemId) => ({ itemId, reason: 'wrong-type' as const })),
    ...judged.flatMap((one) => ('reason' in one ? [{ itemId: one.itemId, reason: one.reason }] : [])),
  ];
  const totalMs = wanted.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const estimatedSeconds = secondsFor(totalMs, await speedOf(call));
  if (body.dryRun) return { count: wanted.length, estimatedSeconds };
  return { ...(await queue(call, { body, options, wanted })), estimatedSeconds, skipped };
}

async function queue(
  call: Call,
  { body, options, wanted }: { body: BatchBody; options: TrackOptions; wanted: readonly NewRequest[] },
): Promise<Pick<BatchAnswer, 'count' | 'batch'>> {
  if (wanted.length === 0) return { count: 0 };
  const { accountId } = call.who;
  const { task, force } = body;
  const row = await insertBatch(call.db, { accountId, language: options.language, task, force });
  const added = await insertRequests(call.db, wanted, { accountId, batchId: row.id });
  if (added.length === 0) await settleBatch(call.db, row.id);
  return { count: added.length, batch: await showBatch(call, row) };
}

/** The items to hear in show order, and those of other types. Throws 404 for an item that is hidden, and 400 beyond 5,000. */
async function expand({ db, who }: Call, itemIds: readonly string[]): Promise<{ ids: string[]; wrong: string[] }> {
  const unique = [...new Set(itemIds)];
  const named = await findNamed(db, who, unique);
  if (named.length < unique.length) throw notFound();
  const containers = named.filter(({ type }) => type === 'season' || type === 'show').map(({ id }) => id);
  const episodes = containers.length > 0 ? await findEpisodes(db, who, { containers, most: MOST + 1 }) : [];
  const single = named.filter(({ type }) => HEARD_TYPES.includes(type)).map(({ id }) => id);
  const ids = [...new Set([...single, ...episodes])];
  if (ids.length > MOST) throw invalid(['body', 'itemIds'], 'too_big', `more than ${MOST} episodes`);
  const known = new Set([...containers, ...single]);
  return { ids, wrong: named.filter(({ id }) => !known.has(id)).map(({ id }) => id) };
}

/** `file|language|task` of the requests under way for these films. */
async function openOf({ db }: Call, films: readonly Film[]): Promise<Set<string>> {
  const rows = await rowsOf<{ key: string }>(
    db,
    `select file_id || '|' || language || '|' || task as key from subtitle_requests
     where state in ('waiting', 'running') and file_id = any(?::uuid[])`,
    [films.map(({ fileId }) => fileId)],
  );
  return new Set(rows.map(({ key }) => key));
}

function judge(
  film: Film | undefined,
  { options, force, open }: { options: TrackOptions; force: boolean; open: ReadonlySet<string> },
): { request: NewRequest } | { reason: SkipReason } {
  if (!film) return { reason: 'no-file' };
  const sound = soundtrackOf(film, undefined);
  if (!sound) return { reason: 'no-soundtrack' };
  const request = requestFor(film, sound, options);
  if (open.has(`${request.fileId}|${request.language}|${request.task}`)) return { reason: 'queued' };
  const isEnglish = request.task === 'translate' && request.spoken === 'en';
  if (isEnglish || alreadyMade(film, request)) return { reason: 'already-made' };
  if (!force && personMade(film, request)) return { reason: 'subtitled' };
  return { request };
}

/** Cancels the rest of a batch. Throws 404 for one that is unknown or older than 90 days. */
export async function stopBatch(call: Call, id: string): Promise<SubtitleBatch> {
  requireAdmin(call);
  const row = await lockBatch(call.db, id);
  if (!row) throw notFound();
  await cancelBatch(call.db, id);
  return showBatch(call, row);
}

async function showBatch(call: Call, row: BatchRow): Promise<SubtitleBatch> {
  const { states, total, leftMs } = await countBatch(call.db, row.id);
  return {
    ...{ id: row.id, ...(row.language && { language: row.language }), task: row.task, force: row.force },
    ...{ total, ...states, secondsLeft: secondsFor(leftMs, await speedOf(call)), createdAt: iso(row.created_at) },
  };
}
