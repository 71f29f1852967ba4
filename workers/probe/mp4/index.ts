import type { KeyframeIndex, ProbedChapter, ProbedStream } from '#platform/media.ts';
import type { ByteSource } from '../byte-source.ts';
import { unsure } from '../fault.ts';
import { contentTags, PROBE_VERSION, type Probed, type Stretch } from '../probed.ts';
import { box, boxes, need, topOf } from './boxes.ts';
import { metaOf, neroChapters } from './meta.ts';
import { bytesAmong, lastChunkAt, sampleRanges, syncTicks } from './samples.ts';
import { secondsOf, startOf, streamOf, type Trak, trakOf } from './tracks.ts';

const MAX_CHAPTERS = 1000;
/** No encoder writes this many zeros; all codecs read here are encoded. */
const HOLLOW = 4096;

/** Reads an MP4 or QuickTime file from its moov; throws Unsure when ffprobe is needed. */
export async function probeMp4(source: ByteSource, zeros: readonly Stretch[] = []): Promise<Probed> {
  const { moov, truncated } = await topOf(source);
  if (box(moov, 'mvex') ?? box(moov, 'cmov')) unsure('fragments');
  const mvhd = need(moov, 'mvhd');
  const wide = mvhd[0] === 1;
  const movieScale = mvhd.readUInt32BE(wide ? 20 : 12) || unsure('time scale');
  const traks = [...boxes(moov)].filter((b) => b.type === 'trak').map((b) => trakOf(b.data, movieScale));
  const udta = box(moov, 'udta');
  const meta = metaOf(udta);
  const streams = [
    ...traks.flatMap((trak, index) => streamOf(trak, index) ?? []),
    ...coversOf(meta.covers, traks.length),
  ];
  const media = traks.filter((trak) => trak.handler === 'vide' || trak.handler === 'soun');
  if (media.length === 0) unsure('no pictures and no sound');
  const startMs = Math.round(Math.min(...media.map(startOf)) * 1000);
  const lengthMs = ((wide ? Number(mvhd.readBigUInt64BE(24)) : mvhd.readUInt32BE(16)) / movieScale) * 1000;
  const durationMs = Math.round(lengthMs - Math.max(0, startMs));
  if (!(durationMs > 0)) unsure('no duration');
  const keyframes = keyframesOf(traks, startMs);
  const file = {
    container: 'mp4',
    durationMs,
    startMs,
    bitrate: Math.round((source.size * 8000) / durationMs),
    streams,
    chapters: closed(await chaptersOf(source, { traks, udta, startMs }), durationMs),
    tags: contentTags(meta.tags),
    probeVersion: PROBE_VERSION,
  };
  return {
    file,
    ...(keyframes ? { keyframes } : {}),
    ...damageIn(media, { truncated, size: source.size, zeros }),
  };
}

/** Damage according to the sample table. */
function damageIn(
  media: readonly Trak[],
  { truncated, size, zeros }: { truncated: boolean; size: number; zeros: readonly Stretch[] },
): Pick<Probed, 'truncated' | 'hollow'> {
  const cut = truncated || media.some(({ stbl }) => lastChunkAt(stbl) >= size);
  const hollow = zeros.length > 0 && media.some(({ stbl }) => bytesAmong(stbl, zeros) >= HOLLOW);
  return { ...(cut && { truncated: true }), ...(hollow && { hollow: true }) };
}

function coversOf(covers: readonly { codec: string; mime: string }[], first: number): ProbedStream[] {
  const flags = { default: false, forced: false, hearingImpaired: false, attachedPicture: true };
  return covers.map(({ codec, mime }, i) => ({ index: first + i, kind: 'video', codec, mime, ...flags }));
}

function keyframesOf(traks: readonly Trak[], startMs: number): KeyframeIndex | undefined {
  const video = traks.find((trak) => trak.handler === 'vide');
  if (!video) return undefined;
  const ticks = syncTicks(video.stbl, video.samples.count);
  const times = ticks.map((tick) => Math.round(secondsOf(video, tick) * 1000) - startMs);
  return [...new Set(times)].sort((a, b) => a - b);
}

interface ChapterSource {
  traks: readonly Trak[];
  udta: Buffer | undefined;
  startMs: number;
}

type Begun = Omit<ProbedChapter, 'endMs'>;

/** The chapter track if there is one, otherwise Nero's list. */
async function chaptersOf(source: ByteSource, { traks, udta, startMs }: ChapterSource): Promise<Begun[]> {
  const ids = new Set(traks.flatMap((trak) => trak.chapterIds));
  const track = traks.find((trak) => ids.has(trak.id) && trak.handler === 'text');
  const found = track ? await trackChapters(source, track) : neroChapters(udta);
  return found.map((chapter) => ({ ...chapter, startMs: chapter.startMs - startMs }));
}

async function trackChapters(source: ByteSource, trak: Trak): Promise<Begun[]> {
  const ranges = sampleRanges(trak.stbl, MAX_CHAPTERS);
  // Every sample of a text track is a sync sample: the same table gives all start times.
  const ticks = syncTicks(trak.stbl, ranges.length);
  const chapters: Begun[] = [];
  for (const [i, { at, size }] of ranges.entries()) {
    const bytes = await source.read(at, Math.min(size, 4096));
    if (bytes.length < 2) continue;
    const title = bytes.subarray(2, 2 + bytes.readUInt16BE(0)).toString('utf8');
    chapters.push({ startMs: Math.round(secondsOf(trak, ticks[i] ?? 0) * 1000), title });
  }
  return chapters;
}

function closed(chapters: readonly Begun[], durationMs: number): ProbedChapter[] {
  return chapters.map((chapter, i) => ({ ...chapter, endMs: chapters[i + 1]?.startMs ?? durationMs }));
}
