// Joins the parts of a recording into one Matroska file by stream copy. ffmpeg gets bytes by a pipe, and no address.
import { once } from 'node:events';
import { mkdir, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RecordingRow } from '#areas/live-tv/public.ts';
import { requireSpace } from '#platform/disk.ts';
import { PARTS_BUCKET, partKey } from '#platform/live/parts.ts';
import { findFacts } from '#platform/live/recorded.store.ts';
import type { LiveSegment } from '#platform/live/segments.ts';
import type { ProbedStream } from '#platform/media.ts';
import { type FfmpegProcess, startFfmpeg } from '#workers/transcode/ffmpeg.ts';
import type { Work } from '#workers/work.ts';
import { ahead } from './ahead.ts';
import { JUMP_SECONDS } from './caption-files.ts';
import { type CaptionArguments, captionArguments } from './captions.ts';
import { tagsOf } from './names.ts';
import { PartClock } from './part-clock.ts';

/** The parts cannot be joined: no other try helps. */
export class Unjoinable extends Error {}

/** Parts that are read while ffmpeg works on one. */
const PARTS_AHEAD = 3;

/** Texts are seldom: what waits in memory for the next one ends after ten seconds (in microseconds). */
const INTERLEAVED = ['-max_interleave_delta', '10000000'];

/** Indexes of the streams of DVB picture subtitles, which Matroska holds as they are. */
function picturesIn(streams: readonly ProbedStream[] | undefined): number[] {
  const pictures = (streams ?? []).filter(({ codec }) => codec === 'dvb_subtitle' || codec === 'dvbsub');
  return pictures.map(({ index }) => index);
}

function argumentsOf(row: RecordingRow, target: string, captions: CaptionArguments): string[] {
  return [
    ...['-hide_banner', '-nostdin', '-loglevel', 'error', '-protocol_whitelist', 'pipe'],
    ...['-fflags', '+genpts+discardcorrupt', '-dts_delta_threshold', String(JUMP_SECONDS)],
    ...['-probesize', '5000000', '-analyzeduration', '5000000', '-f', 'mpegts', '-i', 'pipe:0', ...captions.inputs],
    ...['-map', '0:v:0?', '-map', '0:a?', ...captions.outputs, '-dn', '-c', 'copy', ...INTERLEAVED],
    ...Object.entries(tagsOf(row)).flatMap(([name, value]) => ['-metadata', `${name}=${value.replaceAll('\0', '')}`]),
    ...['-f', 'matroska', '-y', target],
  ];
}

/** Writes the file and syncs it. Throws `Unjoinable`, `DiskFull`, and the errors of the store. */
export async function joinParts(
  work: Work,
  { row, parts, target }: { row: RecordingRow; parts: readonly LiveSegment[]; target: string },
): Promise<void> {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const pictures = picturesIn(await findFacts(work.db, parts)).flatMap((index) => ['-map', `0:${index}?`]);
  await requireSpace(dirname(target), bytes);
  const { scratchDir } = work.config;
  await mkdir(scratchDir, { recursive: true });
  const folder = await mkdtemp(join(scratchDir, 'captions-'));
  try {
    const texts = await captionArguments(work, { recordingId: row.id, parts, folder });
    const captions = { inputs: texts.inputs, outputs: [...texts.outputs, ...pictures] };
    const joining = { row, parts, target, bytes };
    const hasCaptions = captions.outputs.length > 0;
    try {
      await run(work, argumentsOf(row, target, captions), joining);
    } catch (error) {
      if (!(error instanceof Unjoinable && hasCaptions)) throw error;
      await run(work, argumentsOf(row, target, { inputs: [], outputs: [] }), joining); // a film without its captions is better than none
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const file = await open(target, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

interface Joining {
  row: RecordingRow;
  parts: readonly LiveSegment[];
  target: string;
  bytes: number;
}

async function run(work: Work, args: string[], { row, parts, target, bytes }: Joining): Promise<void> {
  const ffmpeg = await startFfmpeg(args, { outputs: 1, gpu: false, input: true });
  try {
    await feed(work, ffmpeg, { row, parts });
    const { code, words } = await ffmpeg.ended;
    if (code !== 0) await refuse(target, bytes, words);
  } finally {
    ffmpeg.kill();
  }
}

/** Writes the parts to ffmpeg one after the other, as fast as it takes them. */
async function feed(
  work: Work,
  { input, ended }: FfmpegProcess,
  { row, parts }: { row: RecordingRow; parts: readonly LiveSegment[] },
): Promise<void> {
  if (!input) throw new Error('no input');
  input.on('error', () => undefined); // its exit shows why
  const clock = new PartClock();
  for await (const [part, bytes] of ahead(parts, (one) => read(work, row, one), PARTS_AHEAD)) {
    work.signal.throwIfAborted();
    clock.move(bytes, part);
    if (!input.write(bytes)) await Promise.race([once(input, 'drain'), ended]);
  }
  input.end();
}

async function read({ objects }: Work, { id }: RecordingRow, part: LiveSegment): Promise<Buffer> {
  const body = await objects.get(PARTS_BUCKET, partKey(id, part));
  return Buffer.concat(await Array.fromAsync(body as AsyncIterable<Buffer>));
}

/** A full disk ends ffmpeg too. */
async function refuse(target: string, bytes: number, words: string): Promise<never> {
  const written = await stat(target).catch(() => undefined);
  await requireSpace(dirname(target), Math.max(0, bytes - (written?.size ?? 0)));
  throw new Unjoinable(words.slice(-300) || 'ffmpeg failed');
}
