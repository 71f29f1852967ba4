import type { KeyframeIndex, ProbedFile } from '#platform/media.ts';
import { ByteSource } from './byte-source.ts';
import { ffprobe } from './ffprobe.ts';
import { SNIFF_BYTES, sniff } from './sniff.ts';

const TIMEOUT_MS = 10 * 60_000;

/**
 * Reads the packets of the first real video stream once and returns its keyframes; empty without video. Reads the whole
 * file.
 */
export async function readKeyframes(
  path: string,
  file: ProbedFile,
  options: { signal?: AbortSignal } = {},
): Promise<KeyframeIndex> {
  const video = file.streams.find((stream) => stream.kind === 'video' && !stream.attachedPicture);
  if (!video) return [];
  const show = [
    '-select_streams',
    String(video.index),
    '-show_entries',
    'packet=pts_time,flags',
    '-of',
    'compact=p=0:nk=1',
  ];
  const answer = await ffprobe({
    path,
    sniffed: await sniffFile(path),
    show,
    signal: options.signal,
    timeoutMs: TIMEOUT_MS,
  });
  const times = new Set<number>();
  for (const line of answer.split('\n')) {
    const [time, flags] = line.split('|');
    if (flags?.includes('K') && time !== 'N/A') times.add(Math.round(Number(time) * 1000) - file.startMs);
  }
  return [...times].sort((a, b) => a - b);
}

async function sniffFile(path: string): Promise<ReturnType<typeof sniff>> {
  const source = await ByteSource.open(path);
  try {
    return sniff(await source.read(0, SNIFF_BYTES));
  } finally {
    await source.close();
  }
}
