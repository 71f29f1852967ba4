// Works through the files that wait for an analysis, one after another.
import {
  type AnalysisName,
  endAnalysis,
  markByChapters,
  nextAnalysisDue,
  putOffAnalysis,
  queueAnalysis,
  switchesOf,
  type Taken,
  takeAnalysis,
} from '#areas/libraries/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import { type FileSource, findSource } from '#areas/streaming/public.ts';
import type { Db } from '#platform/db.ts';
import type { ProbedFile } from '#platform/media.ts';
import { ObjectsUnavailable } from '#platform/objects.ts';
import { Postponed, type Work } from '../work.ts';
import { FfmpegKilled } from './run.ts';

export interface AnalysedFile extends FileSource {
  probe: ProbedFile;
  /** Absolute path. */
  file: string;
}

/** What an analysis found, and how it is stored, in the transaction that ends it. */
export interface Finding {
  state: 'done' | 'not-found';
  save?: (db: Db) => Promise<void>;
}

export interface Round {
  name: AnalysisName;
  libraryId: string | undefined;
  each: (file: AnalysedFile) => Promise<Finding>;
}

const STORAGE_MINUTES = 10;
/** For the store of objects, and for free memory. */
const WAIT_MINUTES = 1;
/** A file that took its worker or ffmpeg along so often is passed over. */
const MOST_TRIES = 3;
const TURN_MS = 15_000;

/**
 * One checkpoint a file: a killed worker repeats at most the one that it read. Throws `Postponed` while files wait for
 * their storage, or while another analysis runs. Without a library it first queues what all libraries lack.
 */
export async function eachFile(work: Work, round: Round): Promise<{ analysed: number }> {
  await waitForTurn(work);
  if (round.libraryId === undefined) await queueEverywhere(work, round.name);
  let analysed = 0;
  for (;;) {
    work.signal.throwIfAborted();
    const taken = await takeAnalysis(work.db, { ...round, jobId: work.jobId });
    if (!taken) break;
    if (!(await analyseOne(work, round, taken))) continue;
    analysed += 1;
    const left = await nextAnalysisDue(work.db, round);
    await work.keep(work.db, { analysed }, { done: analysed, total: analysed + (left?.waiting ?? 0), unit: 'files' });
  }
  const next = await nextAnalysisDue(work.db, round);
  if (next) throw new Postponed(new Date(Math.max(next.due.getTime(), Date.now() + 1000)), 'storage');
  return { analysed };
}

/** One analysis at a time in the cluster: the one that began first. */
async function waitForTurn({ db, jobId }: Work): Promise<void> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `select 1 from jobs o join jobs m on m.id = ?
     where o.id <> m.id and o.state = 'active' and o.kind like 'analysis.%' and (o.started_at, o.id) < (m.started_at, m.id)
     limit 1`,
    [jobId],
  );
  if (rows.length > 0) throw new Postponed(new Date(Date.now() + TURN_MS), 'slot');
}

async function queueEverywhere({ db, settings }: Work, name: AnalysisName): Promise<void> {
  const libraries = await db('libraries').whereNull('deleted_at').select('id', 'type', 'settings');
  for (const library of libraries) {
    const isOn = switchesOf(library, settings).some((one) => one.name === name && !one.off);
    if (!isOn) continue;
    await queueAnalysis(db, name, library.id);
    await markByChapters(db, library.id, [name]);
  }
}

/** False for a file that waits. */
async function analyseOne(work: Work, { name, each }: Round, taken: Taken): Promise<boolean> {
  try {
    const source = taken.tries < MOST_TRIES ? await findSource(work.db, taken.fileId) : undefined;
    const file = source && (await opened(work, source));
    if (file === 'away') {
      await putOffAnalysis(work.db, { ...taken, name, tries: 0 }, STORAGE_MINUTES);
      return false;
    }
    const finding: Finding = file ? await each(file) : { state: 'not-found' };
    await work.db.transaction(async (db) => {
      if (await endAnalysis(db, { ...taken, name }, finding.state)) await finding.save?.(db);
    });
    return true;
  } catch (error) {
    const tries = triesAfter(error, taken);
    if (tries === undefined && !work.signal.aborted) throw error;
    await putOffAnalysis(work.db, { ...taken, name, tries: tries ?? 0 }, work.signal.aborted ? 0 : WAIT_MINUTES);
    work.signal.throwIfAborted();
    return false;
  }
}

/** The tries that count after an error that may not come again; undefined for other errors. */
function triesAfter(error: unknown, { tries }: Taken): number | undefined {
  if (error instanceof FfmpegKilled) return tries + 1;
  return error instanceof ObjectsUnavailable ? 0 : undefined;
}

/** Undefined for a file that is gone, changed or was never read. */
async function opened(work: Work, source: FileSource): Promise<AnalysedFile | 'away' | undefined> {
  if (!source.probe) return undefined;
  const place = await openMedia(work, source);
  if (place.kind === 'unavailable') return 'away';
  return place.kind === 'there' ? { ...source, probe: source.probe, file: place.absolute } : undefined;
}
