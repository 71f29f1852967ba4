import { unsure } from '../fault.ts';
import type { Stretch } from '../probed.ts';
import { box, need } from './boxes.ts';

/** How the edit list maps a track's clock to the film's. */
export interface Edit {
  /** On the film's clock, before the track begins. */
  delaySec: number;
  /** On the track's clock: earlier samples are not shown. */
  mediaTime: number;
}

interface Entry {
  duration: number;
  mediaTime: number;
}

/** Reads `elst`: empty edits and one stretch; more stretches are left to ffprobe. */
export function editOf(trak: Buffer, movieScale: number): Edit {
  const entries = entriesOf(box(trak, 'edts/elst'));
  const empty = entries.filter((e) => e.mediaTime === -1);
  const shown = entries.filter((e) => e.mediaTime !== -1);
  if (shown.length > 1 || empty.some((e, i) => e !== entries[i])) unsure('edit list');
  return { delaySec: empty.reduce((sum, e) => sum + e.duration, 0) / movieScale, mediaTime: shown[0]?.mediaTime ?? 0 };
}

function entriesOf(elst: Buffer | undefined): Entry[] {
  if (!elst || elst.length < 8) return [];
  const wide = elst[0] === 1;
  const step = wide ? 20 : 12;
  const count = Math.min(elst.readUInt32BE(4), Math.floor((elst.length - 8) / step));
  return Array.from({ length: count }, (_, i) => {
    const at = 8 + i * step;
    return wide
      ? { duration: Number(elst.readBigUInt64BE(at)), mediaTime: Number(elst.readBigInt64BE(at + 8)) }
      : { duration: elst.readUInt32BE(at), mediaTime: elst.readInt32BE(at + 4) };
  });
}

/** A table of (count, value) runs, as stts and ctts are. */
interface Runs {
  bytes: Buffer;
  count: number;
  signed: boolean;
}

function runsOf(bytes: Buffer | undefined): Runs | undefined {
  if (!bytes || bytes.length < 8) return undefined;
  const count = Math.min(bytes.readUInt32BE(4), Math.floor((bytes.length - 8) / 8));
  return { bytes, count, signed: true };
}

function runAt(runs: Runs, i: number): { length: number; value: number } {
  return { length: runs.bytes.readUInt32BE(8 + i * 8), value: runs.bytes.readInt32BE(12 + i * 8) };
}

/** Contents of a track's sample table. */
export interface Samples {
  count: number;
  /** Ticks of all samples together. */
  ticks: number;
  /** Ticks of every sample if all but the last are equal. */
  even: number | undefined;
  bytes: number;
  /** Presentation time of the first sample in ticks, before the edit. */
  firstTick: number;
}

/** Summarizes the sample table. */
export function samplesOf(stbl: Buffer): Samples {
  const stts = runsOf(need(stbl, 'stts')) ?? unsure('stts');
  let count = 0;
  let ticks = 0;
  let even: number | undefined;
  for (let i = 0; i < stts.count; i += 1) {
    const { length, value } = runAt(stts, i);
    if (i === 0) even = value;
    else if (value !== even && !(i === stts.count - 1 && length === 1)) even = undefined;
    count += length;
    ticks += length * value;
  }
  const ctts = runsOf(box(stbl, 'ctts'));
  return { count, ticks, even, bytes: bytesOf(stbl), firstTick: ctts && ctts.count > 0 ? runAt(ctts, 0).value : 0 };
}

function bytesOf(stbl: Buffer): number {
  const stsz = box(stbl, 'stsz');
  if (!stsz || stsz.length < 12) return 0;
  const each = stsz.readUInt32BE(4);
  const count = stsz.readUInt32BE(8);
  if (each > 0) return each * count;
  let sum = 0;
  for (let at = 12; at + 4 <= stsz.length; at += 4) sum += stsz.readUInt32BE(at);
  return sum;
}

/** Presentation ticks of the sync samples, in table order; every sample without such a table. */
export function syncTicks(stbl: Buffer, count: number): number[] {
  const stss = box(stbl, 'stss');
  const listed = stss && stss.length >= 8 ? Math.min(stss.readUInt32BE(4), (stss.length - 8) >> 2) : undefined;
  const decode = cursor(runsOf(box(stbl, 'stts')), true);
  const offset = cursor(runsOf(box(stbl, 'ctts')), false);
  const wanted = Math.min(listed ?? count, count);
  const ticks: number[] = [];
  for (let i = 0; i < wanted; i += 1) {
    const sample = stss && listed !== undefined ? stss.readUInt32BE(8 + i * 4) - 1 : i;
    ticks.push(decode(sample) + offset(sample));
  }
  return ticks;
}

/** Returns ascending sample numbers: the sum of the values before it (`sums`), or its own value. */
function cursor(runs: Runs | undefined, sums: boolean): (sample: number) => number {
  let run = 0;
  let first = 0;
  let before = 0;
  return (sample) => {
    for (; runs && run < runs.count; run += 1) {
      const { length, value } = runAt(runs, run);
      if (sample < first + length) return sums ? before + (sample - first) * value : value;
      before += length * value;
      first += length;
    }
    return sums ? before : 0;
  };
}

/** Bytes in the file of the samples of a track, by chunk table. At most `limit` samples. */
export function sampleRanges(stbl: Buffer, limit: number): Stretch[] {
  const stsz = need(stbl, 'stsz');
  const chunks = chunkOffsets(stbl);
  const ranges: Stretch[] = [];
  const each = stsz.readUInt32BE(4);
  const count = Math.min(stsz.readUInt32BE(8), limit);
  const perChunk = samplesPerChunk(need(stbl, 'stsc'), chunks.length);
  for (let chunk = 0; chunk < chunks.length && ranges.length < count; chunk += 1) {
    let at = chunks[chunk] ?? 0;
    for (let i = 0; i < (perChunk[chunk] ?? 0) && ranges.length < count; i += 1) {
      const size = each || stsz.readUInt32BE(12 + ranges.length * 4);
      ranges.push({ at, size });
      at += size;
    }
  }
  return ranges;
}

const MAX_SAMPLES = 2_000_000;

/** Number of bytes of the track's samples in these ranges of the file. */
export function bytesAmong(stbl: Buffer, stretches: readonly Stretch[]): number {
  const common = (a: Stretch, b: Stretch): number =>
    Math.max(0, Math.min(a.at + a.size, b.at + b.size) - Math.max(a.at, b.at));
  return sampleRanges(stbl, MAX_SAMPLES).reduce(
    (sum, sample) => sum + stretches.reduce((bytes, stretch) => bytes + common(sample, stretch), 0),
    0,
  );
}

/** Where the last chunk of the track begins in the file. */
export function lastChunkAt(stbl: Buffer): number {
  return chunkOffsets(stbl).at(-1) ?? 0;
}

function chunkOffsets(stbl: Buffer): number[] {
  const co64 = box(stbl, 'co64');
  const table = co64 ?? need(stbl, 'stco');
  const width = co64 ? 8 : 4;
  const count = Math.min(table.readUInt32BE(4), Math.floor((table.length - 8) / width), 100_000);
  return Array.from({ length: count }, (_, i) =>
    Number(co64 ? table.readBigUInt64BE(8 + i * 8) : table.readUInt32BE(8 + i * 4)),
  );
}

function samplesPerChunk(stsc: Buffer, chunks: number): number[] {
  const runs = Math.min(stsc.readUInt32BE(4), Math.floor((stsc.length - 8) / 12));
  const per: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const first = stsc.readUInt32BE(8 + run * 12) - 1;
    const next = run + 1 < runs ? stsc.readUInt32BE(20 + run * 12) - 1 : chunks;
    for (let chunk = first; chunk < Math.min(next, chunks); chunk += 1) per[chunk] = stsc.readUInt32BE(12 + run * 12);
  }
  return per;
}
