import type { KeyframeIndex, ProbedChapter, ProbedFile, ProbedStream } from '#platform/media.ts';
import type { ByteSource } from '../byte-source.ts';
import { unsure } from '../fault.ts';
import { contentTags, PROBE_VERSION, type Probed } from '../probed.ts';
import { attachmentsOf } from './attachments.ts';
import { child, children, elements, float, text, uint } from './ebml.ts';
import { type FirstFrame, firstFrames } from './first-frames.ts';
import { ID } from './ids.ts';
import { type Layout, layoutOf, section } from './layout.ts';
import { streamOf } from './streams.ts';
import { number, type Track, tracksOf } from './tracks.ts';

const EMPTY = Buffer.alloc(0);
/** Reads a Matroska or WebM file from its own index; throws Unsure when ffprobe is needed. */
export async function probeMatroska(source: ByteSource): Promise<Probed> {
  const layout = await layoutOf(source);
  const info = (await section(source, layout, ID.info)) ?? unsure('no Info');
  const tracks = tracksOf((await section(source, layout, ID.tracks)) ?? unsure('no Tracks'));
  if (tracks.length === 0) unsure('no tracks');
  const scale = number(info, ID.scale, 1_000_000) / 1_000_000;
  const media = tracks.filter((track) => track.type !== 'subtitle');
  const frames = layout.firstCluster
    ? await firstFrames(source, layout.firstCluster, new Set(media.map((track) => track.number)))
    : unsure('no Cluster');
  const startMs = startOf({ media, frames, scale });
  const cues = await section(source, layout, ID.cues);
  const keyframes = cues && keyframesOf({ cues, tracks, scale, startMs });
  const durationMs = durationOf({ info, scale, startMs, keyframes });
  const tags = await tagsOf(source, layout, info);
  const streams = tracks.map((track, index) =>
    withBitrate(streamOf(track, index, frames.get(track.number)), track, tags.bitrates),
  );
  const file: ProbedFile = {
    container: layout.docType === 'webm' ? 'webm' : 'matroska',
    durationMs,
    startMs,
    bitrate: Math.round((source.size * 8000) / durationMs),
    streams: [...streams, ...(await attachmentsOf(source, layout, tracks.length))],
    chapters: await chaptersOf(source, layout, { startMs, durationMs }),
    tags: contentTags(tags.file),
    probeVersion: PROBE_VERSION,
  };
  return { file, ...(keyframes ? { keyframes } : {}), ...(layout.truncated ? { truncated: true } : {}) };
}

interface Start {
  media: readonly Track[];
  frames: ReadonlyMap<number, FirstFrame>;
  scale: number;
}

function startOf({ media, frames, scale }: Start): number {
  const times = media.map((track) => {
    const frame = frames.get(track.number) ?? unsure('no first frame');
    return frame.time * scale - track.codecDelayNs / 1e6;
  });
  return times.length > 0 ? Math.round(Math.min(...times)) : unsure('no pictures and no sound');
}

interface Length {
  info: Buffer;
  scale: number;
  startMs: number;
  keyframes: KeyframeIndex | undefined;
}

/** Some writers store the duration, most the end time; a keyframe after the stored value means the duration. */
function durationOf({ info, scale, startMs, keyframes }: Length): number {
  const stored = float(child(info, ID.duration) ?? EMPTY) * scale;
  if (!(stored > 0)) unsure('no duration');
  const isLength = startMs <= 0 || (keyframes?.at(-1) ?? 0) + startMs > stored || stored <= startMs;
  return Math.round(isLength ? stored : stored - startMs);
}

interface Index {
  cues: Buffer;
  tracks: readonly Track[];
  scale: number;
  startMs: number;
}

/** Times of the cues of the first video track; writers index every keyframe or some of them, all valid cut points. */
function keyframesOf({ cues, tracks, scale, startMs }: Index): KeyframeIndex | undefined {
  const video = tracks.find((track) => track.type === 'video');
  if (!video) return undefined;
  const times = new Set<number>();
  for (const { id, data } of elements(cues)) {
    if (id !== ID.cuePoint) continue;
    const mine = children(data, ID.cuePositions).some((p) => uint(child(p, ID.cueTrack) ?? EMPTY) === video.number);
    if (mine) times.add(Math.round(uint(child(data, ID.cueTime) ?? EMPTY) * scale) - startMs);
  }
  return times.size > 0 ? [...times].sort((a, b) => a - b) : undefined;
}

function withBitrate(stream: ProbedStream, track: Track, bitrates: ReadonlyMap<number, number>): ProbedStream {
  const bitrate = stream.bitrate ?? bitrates.get(track.uid);
  return bitrate === undefined ? stream : { ...stream, bitrate };
}

interface Tags {
  file: Record<string, string>;
  /** By track uid. */
  bitrates: Map<number, number>;
}

async function tagsOf(source: ByteSource, layout: Layout, info: Buffer): Promise<Tags> {
  const tags: Tags = { file: {}, bitrates: new Map() };
  const title = child(info, ID.title);
  if (title?.length) tags.file.title = text(title);
  for (const tag of children((await section(source, layout, ID.tags)) ?? EMPTY, ID.tag)) noteTag(tags, tag);
  return tags;
}

function noteTag(tags: Tags, tag: Buffer): void {
  const targets = child(tag, ID.targets) ?? EMPTY;
  const track = number(targets, ID.targetTrack, 0);
  const other = [ID.targetEdition, ID.targetChapter, ID.targetAttachment].some((id) => number(targets, id, 0) !== 0);
  for (const simple of other ? [] : children(tag, ID.simpleTag)) {
    const name = text(child(simple, ID.tagName) ?? EMPTY).toLowerCase();
    const value = text(child(simple, ID.tagString) ?? EMPTY);
    if (track === 0 && name !== '') tags.file[name] = value;
    else if (name === 'bps' && Number(value) > 0) tags.bitrates.set(track, Number(value));
  }
}

interface Times {
  startMs: number;
  durationMs: number;
}

async function chaptersOf(source: ByteSource, layout: Layout, times: Times): Promise<ProbedChapter[]> {
  const editions = children((await section(source, layout, ID.chapters)) ?? EMPTY, ID.edition);
  const edition = editions.find((e) => number(e, ID.editionDefault, 0) === 1) ?? editions[0] ?? EMPTY;
  const atoms = children(edition, ID.chapterAtom).filter((atom) => number(atom, ID.chapterHidden, 0) === 0);
  const starts = atoms.map((atom) => Math.round(number(atom, ID.chapterStart, 0) / 1e6) - times.startMs);
  return atoms.map((atom, i) => {
    const end = number(atom, ID.chapterEnd, 0);
    const display = child(atom, ID.chapterDisplay) ?? EMPTY;
    return {
      startMs: starts[i] ?? 0,
      endMs: end > 0 ? Math.round(end / 1e6) - times.startMs : (starts[i + 1] ?? times.durationMs),
      title: text(child(display, ID.chapterString) ?? EMPTY),
    };
  });
}
