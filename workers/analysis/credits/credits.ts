import { type FoundMarker, saveFound } from '#areas/libraries/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { ProbedStream } from '#platform/media.ts';
import { filmStream } from '../../artwork/still.ts';
import type { Work } from '../../work.ts';
import { type AnalysedFile, eachFile, type Finding } from '../each-file.ts';
import { readByFfmpeg } from '../run.ts';
import { creditsIn, isBlack, PICTURE, PICTURE_BYTES, turnsBlack } from './black.ts';

const LEAST_MS = 15_000;
/** Longest credits, and so the part of the end that is looked at. */
const MOST_MS = { movie: 900_000, episode: 450_000 };
/** At most this share of the film. */
const PART = 0.4;
const PATIENCE_MS = 900_000;
/** Pictures a second of the exact look, and how far it begins before the candidate. */
const EXACT = { rate: 10, beforeMs: 12_000, afterMs: 2000 };

/** Finds the credits of the files that wait for it. */
export function findCredits({ libraryId }: JobPayload<'analysis.credits'>, work: Work): Promise<object> {
  return eachFile(work, { name: 'creditsDetection', libraryId, each: (file) => creditsOf(file, work) });
}

/** By the keyframes of the end, and then exactly around the one candidate. */
async function creditsOf(source: AnalysedFile, { db, signal }: Work): Promise<Finding> {
  const stream = filmStream(source.probe);
  const { durationMs } = source.probe;
  if (!stream || durationMs < 3 * LEAST_MS) return { state: 'not-found' };
  const item = await db('items').where({ id: source.itemId }).first('type');
  const mostMs = item?.type === 'episode' ? MOST_MS.episode : MOST_MS.movie;
  const lookMs = Math.min(mostMs + 60_000, durationMs * PART);
  const end = { source, stream, fromMs: durationMs - lookMs, lengthMs: lookMs, rate: 1, keys: true };
  const seconds = await blackPictures(end, signal);
  const rough = creditsIn(seconds, { leastMs: LEAST_MS, mostMs });
  if (!rough) return { state: 'not-found', save: (inside) => save(inside, source, undefined) };
  const startMs = await exactStart(end, end.fromMs + rough.startMs, signal);
  const found: FoundMarker = {
    ...{ kind: 'credits', startMs, endMs: Math.min(durationMs, Math.round(end.fromMs + rough.endMs)), confidence: 0.8 },
  };
  return { state: 'done', save: (inside) => save(inside, source, found) };
}

const save = (db: Parameters<typeof saveFound>[0], { id, itemId }: AnalysedFile, found: FoundMarker | undefined) =>
  saveFound(db, { fileId: id, itemId }, { kind: 'credits', found });

interface Look {
  source: AnalysedFile;
  stream: ProbedStream;
  fromMs: number;
  lengthMs: number;
  /** Pictures a second. */
  rate: number;
  /** Only keyframes are decoded; each counts until the next. */
  keys: boolean;
}

async function exactStart(end: Look, aboutMs: number, signal: AbortSignal): Promise<number> {
  const fromMs = Math.max(0, aboutMs - EXACT.beforeMs);
  const lengthMs = aboutMs - fromMs + EXACT.afterMs;
  const pictures = await blackPictures({ ...end, fromMs, lengthMs, rate: EXACT.rate, keys: false }, signal);
  const at = turnsBlack(pictures);
  return Math.round(at === undefined ? aboutMs : fromMs + (at * 1000) / EXACT.rate);
}

/** Whether each picture of a part is black, at a fixed rate; shorter for a file that breaks off. */
async function blackPictures(look: Look, signal: AbortSignal): Promise<boolean[]> {
  const { source, stream, fromMs, lengthMs, rate, keys } = look;
  const count = Math.ceil((lengthMs / 1000) * rate);
  const found: boolean[] = [];
  const take = async (output: AsyncIterable<Buffer>): Promise<void> => {
    let left: Buffer = Buffer.alloc(0);
    for await (const chunk of output) {
      left = left.length > 0 ? Buffer.concat([left, chunk]) : chunk;
      let at = 0;
      for (; at + PICTURE_BYTES <= left.length; at += PICTURE_BYTES)
        found.push(isBlack(left.subarray(at, at + PICTURE_BYTES)));
      left = left.subarray(at);
    }
  };
  const filters = [
    `fps=fps=${rate}:start_time=0:eof_action=pass${keys ? ':round=up' : ''}`,
    'tpad=stop=-1:stop_mode=clone',
    `trim=end_frame=${count}`,
    `scale=w=${PICTURE.width}:h=${PICTURE.height}:flags=area:out_range=tv`,
    'format=gray',
  ];
  const writing = [
    ...['-map', `0:${stream.index}`, '-vf', filters.join(','), '-fps_mode', 'passthrough'],
    ...['-c:v', 'rawvideo', '-f', 'rawvideo'],
  ];
  const reading = [
    ...['-ss', (fromMs / 1000).toFixed(3)],
    ...(keys ? ['-skip_frame', 'nokey'] : ['-t', (lengthMs / 1000 + 1).toFixed(3)]),
    ...['-an', '-sn', '-dn'],
  ];
  const { file, probe } = source;
  await readByFfmpeg({ file, probe, reading, outputs: [{ writing, take }], signal, patienceMs: PATIENCE_MS });
  return found.slice(0, count);
}
