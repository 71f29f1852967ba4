import type { ProbedStream } from '#platform/media.ts';
import { unsure } from '../fault.ts';
import { languageTag } from '../languages.ts';
import { box, need } from './boxes.ts';
import { audioEntry, entryOf, videoEntry } from './entries.ts';
import { metaOf } from './meta.ts';
import { type Edit, editOf, type Samples, samplesOf } from './samples.ts';

const SUBTITLES: Readonly<Record<string, string>> = { tx3g: 'mov_text', wvtt: 'webvtt' };

export interface Trak {
  id: number;
  /** `vide`, `soun`, `sbtl`, `subt`, `text`, `tmcd` … */
  handler: string;
  trak: Buffer;
  stbl: Buffer;
  scale: number;
  edit: Edit;
  samples: Samples;
  /** Track ids of its chapters, by `tref/chap`. */
  chapterIds: number[];
}

/** Reads the heads of one track. */
export function trakOf(trak: Buffer, movieScale: number): Trak {
  const mdhd = need(trak, 'mdia/mdhd');
  const tkhd = need(trak, 'tkhd');
  const stbl = need(trak, 'mdia/minf/stbl');
  const chap = box(trak, 'tref/chap');
  const scale = mdhd.readUInt32BE(mdhd[0] === 1 ? 20 : 12) || unsure('time scale');
  return {
    id: tkhd.readUInt32BE(tkhd[0] === 1 ? 20 : 12),
    handler: need(trak, 'mdia/hdlr').toString('latin1', 8, 12),
    trak,
    stbl,
    scale,
    edit: editOf(trak, movieScale),
    samples: samplesOf(stbl),
    chapterIds: chap ? Array.from({ length: chap.length >> 2 }, (_, i) => chap.readUInt32BE(i * 4)) : [],
  };
}

/** Seconds on the film's clock of a tick of the track's. */
export function secondsOf(trak: Trak, tick: number): number {
  return trak.edit.delaySec + (tick - trak.edit.mediaTime) / trak.scale;
}

/**
 * Seconds on the film's clock at which a track begins to be shown; parts removed by its edit (the priming of AAC) do
 * not count.
 */
export function startOf(trak: Trak): number {
  return Math.max(trak.edit.delaySec, secondsOf(trak, trak.samples.firstTick));
}

/** The stream of one track; undefined for time codes and other data, which only use an index. */
export function streamOf(trak: Trak, index: number): ProbedStream | undefined {
  switch (trak.handler) {
    case 'vide':
      return { ...commonOf(trak, index), kind: 'video', ...videoOf(trak) };
    case 'soun':
      return { ...commonOf(trak, index), kind: 'audio', ...bitrateOf(trak), ...audioEntry(entryOf(trak.stbl)) };
    case 'sbtl':
    case 'subt':
    case 'text':
      return subtitleOf(trak, index);
    case 'tmcd':
      return undefined;
    default:
      return unsure(`handler ${trak.handler}`);
  }
}

/** A plain text track contains chapters or other data, not subtitles. */
function subtitleOf(trak: Trak, index: number): ProbedStream | undefined {
  const { type } = entryOf(trak.stbl);
  if (type === 'text') return undefined;
  return { ...commonOf(trak, index), kind: 'subtitle', codec: SUBTITLES[type] ?? unsure(type) };
}

function commonOf(trak: Trak, index: number): ProbedStream {
  const language = languageTag(languageOf(trak.trak));
  const udta = box(trak.trak, 'udta');
  const title = metaOf(udta).tags.title ?? (udta && box(udta, 'name')?.toString('utf8').replaceAll('\0', ''));
  return {
    index,
    kind: 'video',
    codec: '',
    ...(language === undefined ? {} : { language }),
    ...(title ? { title } : {}),
    default: ((need(trak.trak, 'tkhd')[3] ?? 0) & 1) === 1,
    forced: false,
    hearingImpaired: false,
  };
}

/**
 * `elng` is BCP 47; mdhd packs three letters of five bits, or contains an old Macintosh number, which ffprobe knows.
 */
function languageOf(trak: Buffer): string {
  const extended = box(trak, 'mdia/elng');
  if (extended) return extended.subarray(4).toString('latin1');
  const mdhd = need(trak, 'mdia/mdhd');
  const packed = mdhd.readUInt16BE(mdhd[0] === 1 ? 32 : 20);
  if (packed === 0x7fff) return 'und';
  if (packed < 0x400) unsure('Macintosh language');
  return String.fromCharCode(...[10, 5, 0].map((shift) => 0x60 + ((packed >> shift) & 31)));
}

function videoOf(trak: Trak): Partial<ProbedStream> & { codec: string } {
  const { samples, scale } = trak;
  if (samples.count === 0) unsure('no samples');
  const rate = samples.even ? scale / samples.even : (samples.count * scale) / samples.ticks;
  const rotation = rotationOf(need(trak.trak, 'tkhd'));
  return {
    ...videoEntry(entryOf(trak.stbl)),
    ...bitrateOf(trak),
    frameRate: Math.round(rate * 1000) / 1000,
    ...(rotation === 0 ? {} : { rotation }),
  };
}

function bitrateOf({ samples, scale }: Trak): { bitrate?: number } {
  return samples.ticks > 0 ? { bitrate: Math.round((samples.bytes * 8 * scale) / samples.ticks) } : {};
}

/** Clockwise degrees of the display matrix; mirrored or skewed ones are left to ffprobe. */
function rotationOf(tkhd: Buffer): number {
  const at = tkhd[0] === 1 ? 52 : 40;
  const [a, b, c, d] = [0, 4, 12, 16].map((offset) => tkhd.readInt32BE(at + offset) / 65536) as [
    number,
    number,
    number,
    number,
  ];
  const degrees = (Math.round((Math.atan2(b, a) * 180) / Math.PI) + 360) % 360;
  if (degrees % 90 !== 0 || a * d - b * c <= 0) unsure('display matrix');
  return degrees;
}
