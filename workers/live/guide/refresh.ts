import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  copyIncoming,
  coverageOf,
  findGuideSource,
  findState,
  type GuideState,
  guidePlaceOf,
  lockGuides,
  markStale,
  matchSource,
  mergeIncoming,
  nextRefresh,
  openPlace,
  putGuideChannels,
  putState,
  readsAlike,
  type GuideSourceRow as SourceRow,
  TRY_MS,
  type GuideTried as Tried,
} from '#areas/live-tv/public.ts';
import { notify } from '#areas/notifications/public.ts';
import type { Db } from '#platform/db.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { ringOf } from '#platform/keys.ts';
import type { Outbound } from '#platform/outbound.ts';
import { FinalFailure, Postponed, type Work } from '#workers/work.ts';
import { fetchLogos } from '../logos.ts';
import { LINE_COLUMNS } from './entries.ts';
import { type Fetched, fetchGuide, fetchHead } from './fetch-guide.ts';
import { requireXmltv } from './open-guide.ts';
import { readGuide } from './read-guide.ts';
import type { Read } from './reading.ts';
import { GuideRefused } from './refused.ts';

/** Raised when a guide is read in another way. */
const READING = 1;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Attempts after a failure. */
const RETRY_MINUTES = [5, 15, 60];
/** People hear of a source that fails for longer. */
const FAILING_MS = 60 * MINUTE_MS;

interface Refreshing {
  work: Work;
  row: SourceRow;
  outbound: Outbound | undefined;
}

/** Handler of job `live.guide`. `outbound` is for tests. */
export function createGuideRefresh(outbound?: Outbound) {
  return async (payload: JobPayload<'live.guide'>, work: Work): Promise<object> => {
    if ('order' in payload) return look(payload.order, { work, outbound });
    const row = await findGuideSource(work.db, payload.sourceId);
    if (!row) return { gone: true };
    try {
      return await refresh({ work, row, outbound });
    } catch (error) {
      if (work.signal.aborted) throw error;
      return await failed({ work, row, outbound }, error);
    }
  };
}

/** The first try of a guide, whose outcome is the result of the job. */
async function look(order: string, { work, outbound }: Omit<Refreshing, 'row'>): Promise<Tried> {
  const place = openPlace(await ringOf(work.config.keysFile), order);
  if (!place) return { ok: false, code: 'no_address', message: 'the address cannot be read' };
  try {
    await requireXmltv(await fetchHead({ deps: work, place, signal: work.signal, outbound }, TRY_MS));
    return { ok: true };
  } catch (error) {
    if (!(error instanceof GuideRefused)) throw error;
    return { ok: false, code: error.code, message: error.message };
  }
}

async function refresh(refreshing: Refreshing): Promise<object> {
  const { work, row, outbound } = refreshing;
  const { db } = work;
  const place = await guidePlaceOf(db, await ringOf(work.config.keysFile), row);
  if (!place) throw new GuideRefused('no_address', 'the tuner names no guide any more');
  const state = await findState(db, row.id);
  await mkdir(work.config.scratchDir, { recursive: true });
  const folder = await mkdtemp(join(work.config.scratchDir, 'guide-'));
  const path = join(folder, 'guide');
  try {
    const known = bringsMore(row, state) ? undefined : state;
    const fetched = await fetchGuide({ deps: work, place, signal: work.signal, outbound }, path, {
      ...{ etag: known?.etag ?? null, lastModified: known?.last_modified ?? null },
    });
    const counts = fetched.unchanged ? await matchAgain(refreshing) : await taken(refreshing, { path, fetched, known });
    await succeeded(refreshing);
    await fetchLogos(work, outbound);
    return { unchanged: counts === undefined, ...counts };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Whether the days of the source reach a programme now that was left out of its guide. */
const bringsMore = ({ days }: SourceRow, state: GuideState | undefined): boolean =>
  state?.next_start_at != null && state.next_start_at.getTime() < Date.now() + days * DAY_MS;

interface Taking {
  path: string;
  fetched: Extract<Fetched, { unchanged: false }>;
  /** What the last reading left, where the same guide needs no other one. */
  known: GuideState | undefined;
}

/** Undefined for the bytes that were read last. */
async function taken(refreshing: Refreshing, taking: Taking): Promise<object | undefined> {
  const { work, row } = refreshing;
  const { path, known, fetched } = taking;
  const content = await contentOf(path, row, work.signal);
  const marks = { etag: fetched.etag, last_modified: fetched.lastModified, content };
  if (known?.content?.equals(content)) return matchAgain(refreshing, marks);
  return takeOver(refreshing, { path, marks });
}

/** By which the same guide is known. */
type Marks = Pick<GuideState, 'etag' | 'last_modified' | 'content'>;

/** Nothing was read: channels that are new are mapped to the guide that is there, and rules find its programmes. */
async function matchAgain({ work, row }: Refreshing, marks?: Marks): Promise<undefined> {
  await work.db.transaction(async (tx) => {
    await lockGuides(tx);
    if (marks) await putMarks(tx, row, marks);
    await matchSource(tx, row.id);
    await markStale(tx);
  });
}

/** A source that was changed during the refresh gets none, so that it is read again. */
async function putMarks(tx: Db, row: SourceRow, marks: Marks): Promise<void> {
  const none = { etag: null, last_modified: null, content: null };
  await putState(tx, row.id, (await readsAlike(tx, row)) ? marks : none);
}

/** The digest of the bytes and of the settings by which they are read. */
async function contentOf(path: string, row: SourceRow, signal: AbortSignal): Promise<Buffer> {
  const digest = createHash('sha256').update(JSON.stringify([READING, row.shift_minutes, row.days]));
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), digest, { signal });
  return digest.digest();
}

/** Reads the file and takes its guide over in one transaction: until its end the old guide is shown. */
async function takeOver(
  { work, row }: Refreshing,
  { path, marks }: Pick<Taking, 'path'> & { marks: Marks },
): Promise<object> {
  const now = Date.now();
  const reading = {
    ...{ path, shiftMs: row.shift_minutes * MINUTE_MS },
    ...{ fromMs: now - 2 * DAY_MS, toMs: now + row.days * DAY_MS },
  };
  return work.db.transaction(async (tx) => {
    let read: Read | undefined;
    const lines = async function* (): AsyncGenerator<string> {
      read = yield* readGuide(reading, work.signal);
    };
    await lockGuides(tx);
    await copyIncoming(tx, LINE_COLUMNS, lines());
    if (!read) throw new GuideRefused('unreadable', 'the guide was not read to its end');
    await putGuideChannels(tx, row.id, read.channels);
    const { twice, ...merged } = await mergeIncoming(tx, row.id);
    await putState(tx, row.id, {
      ...{ channels: read.channels.length, programs: merged.programs, skipped: read.skipped + twice },
      coverage_until: await coverageOf(tx, row.id),
      next_start_at: read.nextStartMs === undefined ? null : new Date(read.nextStartMs),
    });
    await putMarks(tx, row, marks);
    await matchSource(tx, row.id);
    await markStale(tx);
    return { ...merged, skipped: read.skipped + twice };
  });
}

async function succeeded({ work, row }: Refreshing): Promise<void> {
  const after = new Date();
  const timezone = work.settings.get('server.timeZone');
  await work.db.transaction(async (tx) => {
    const next = (await readsAlike(tx, row)) ? nextRefresh(row, { after, timezone }) : after;
    await putState(tx, row.id, {
      ...{ refreshed_at: after, next_at: next, error: null },
      ...{ failures: 0, failing_since: null, failure_reported: false },
    });
  });
}

/** The old guide stays. The job is tried again after 5, 15 and 60 minutes, then the schedule goes on. */
async function failed({ work, row }: Refreshing, thrown: unknown): Promise<never> {
  const { db, settings, log } = work;
  const state = await findState(db, row.id);
  const now = new Date();
  const failures = (state?.failures ?? 0) + 1;
  const since = state?.failing_since ?? now;
  const minutes = RETRY_MINUTES[failures - 1];
  const byPlan = nextRefresh(row, { after: now, timezone: settings.get('server.timeZone') });
  const next = minutes === undefined ? byPlan : new Date(now.getTime() + minutes * MINUTE_MS);
  const error =
    thrown instanceof GuideRefused
      ? { code: thrown.code, message: thrown.message }
      : { code: 'internal', message: 'It failed; the log of its worker says why' };
  log.warn({ err: thrown, source: row.id }, 'a guide was not refreshed');
  const notifies = !state?.failure_reported && now.getTime() - since.getTime() >= FAILING_MS;
  await db.transaction(async (tx) => {
    await putState(tx, row.id, {
      ...{ error, failures, failing_since: since, next_at: next },
      ...(notifies && { failure_reported: true }),
    });
    if (notifies)
      await notify(tx, {
        ...{
          kind: 'guide-failing',
          to: { permission: 'library:manage' },
          target: { kind: 'guide-source', id: row.id },
        },
        ...{ data: { name: row.name }, url: '/admin/guide' },
      });
  });
  if (minutes !== undefined) throw new Postponed(next);
  throw new FinalFailure(error.code, error.message);
}
