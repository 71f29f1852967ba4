import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openMedia } from '#areas/storage/public.ts';
import { findClip, finishClip, type PrerollRow, prerollKey } from '#areas/streaming/preroll/preroll.store.ts';
import { type FileSource, findItemSource } from '#areas/streaming/public.ts';
import { requireSpace } from '#platform/disk.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { ffmpegInput } from '#platform/media-bytes.ts';
import { FinalFailure, type Work } from '../work.ts';
import { guardsOf } from './command.ts';
import { type Command, ffmpegArguments, startFfmpeg } from './ffmpeg.ts';

const LONGEST_MS = 300_000;

/** Creates a clip that every client plays directly: H.264 and AAC, 1080p at most, loudness at -23 LUFS. */
export async function preparePreroll({ clipId }: JobPayload<'preroll.prepare'>, work: Work): Promise<void> {
  const clip = await findClip(work.db, clipId);
  if (!clip || clip.state === 'ready') return;
  const folder = await scratchFolder(work);
  try {
    const source = await findItemSource(work.db, clip.item_id);
    const durationMs = await makeClip(work, { clip, source, target: join(folder, 'clip.mp4') });
    await finishClip(work.db, clip.id, { state: 'ready', durationMs });
  } catch (error) {
    if (error instanceof FinalFailure) await finishClip(work.db, clip.id, { state: 'failed', error: error.code });
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function scratchFolder({ config }: Work): Promise<string> {
  await requireSpace(config.scratchDir);
  await mkdir(config.scratchDir, { recursive: true });
  return mkdtemp(join(config.scratchDir, 'preroll-'));
}

interface Making {
  clip: PrerollRow;
  source: FileSource | undefined;
  target: string;
}

/** Length of the created clip, ms. */
async function makeClip(work: Work, { clip, source, target }: Making): Promise<number> {
  if (!source) throw new FinalFailure('missing-file', 'The clip has no file');
  if (source.durationMs > LONGEST_MS) throw new FinalFailure('too-long', 'A clip lasts 5 minutes at most');
  const file = await placeOf(work, source);
  await encodeClip(work, clipCommand(file, { target, container: source.probe?.container ?? '' }));
  if ((await stat(target)).size === 0) throw new FinalFailure('decode', 'Nothing was made');
  await work.objects.put('foyer-derived', prerollKey(clip.id), createReadStream(target));
  return source.durationMs;
}

async function placeOf(work: Work, source: FileSource): Promise<string> {
  const place = await openMedia(work, source);
  if (place.kind !== 'there') throw new Error('the storage of the clip is unavailable'); // tried again later
  return place.absolute;
}

async function encodeClip({ signal, log }: Work, command: Command): Promise<void> {
  const child = await startFfmpeg(ffmpegArguments(command), { outputs: 1, gpu: false });
  const stop = (): void => child.kill();
  signal.addEventListener('abort', stop);
  for (const output of child.outputs) output.resume();
  const { code, words } = await child.ended;
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (code === 0) return;
  log.warn({ words: words.slice(-300) }, 'a clip was not made');
  throw new FinalFailure('decode', 'The clip cannot be read');
}

function clipCommand(file: string, { target, container }: { target: string; container: string }): Command {
  const size = `scale=w=trunc(iw*sar/2)*2:h=ih,scale=w=min(1920\\,iw):h=min(1080\\,ih):force_original_aspect_ratio=decrease:force_divisible_by=2`;
  return {
    inputs: [
      {
        file: ffmpegInput(file),
        options: guardsOf(container, file),
      },
    ],
    outputs: [
      {
        target: `file:${target}`,
        rendition: 'clip',
        options: [
          ...['-map', '0:v:0', '-map', '0:a:0?', '-sn', '-dn', '-map_metadata', '-1', '-map_chapters', '-1'],
          ...['-vf', `${size},setsar=1,format=yuv420p`, '-c:v', 'libx264', '-preset', 'fast', '-crf', '20'],
          ...['-profile:v', 'high', '-af', 'loudnorm=I=-23:TP=-2:LRA=11,aresample=48000', '-c:a', 'aac'],
          ...['-b:a', '192k', '-ac', '2', '-f', 'mp4', '-movflags', '+faststart'],
        ],
      },
    ],
  };
}
