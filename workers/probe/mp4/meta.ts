import type { ProbedChapter } from '#platform/media.ts';
import { box, boxes } from './boxes.ts';

/** ffmpeg's names of the iTunes tags. */
const NAMES: Readonly<Record<string, string>> = {
  '©nam': 'title',
  '©ART': 'artist',
  aART: 'album_artist',
  '©alb': 'album',
  '©day': 'date',
  '©gen': 'genre',
  '©cmt': 'comment',
  '©wrt': 'composer',
  '©too': 'encoder',
  cprt: 'copyright',
  desc: 'description',
  ldes: 'synopsis',
  tvsh: 'show',
  tvnn: 'network',
  tven: 'episode_id',
};
const NUMBERS: Readonly<Record<string, string>> = { tvsn: 'season_number', tves: 'episode_sort', stik: 'media_type' };

export interface Meta {
  tags: Record<string, string>;
  /** Pictures among the tags, which ffmpeg counts as streams. */
  covers: { codec: string; mime: string }[];
}

const COVERS: Readonly<Record<number, { codec: string; mime: string }>> = {
  13: { codec: 'mjpeg', mime: 'image/jpeg' },
  14: { codec: 'png', mime: 'image/png' },
  27: { codec: 'bmp', mime: 'image/bmp' },
};

/** The iTunes tags of `udta/meta/ilst`. */
export function metaOf(udta: Buffer | undefined): Meta {
  const meta: Meta = { tags: {}, covers: [] };
  const full = udta && box(udta, 'meta');
  const list = full && box(full.subarray(4), 'ilst');
  for (const item of list ? boxes(list) : []) {
    for (const data of boxes(item.data))
      if (data.type === 'data' && data.data.length >= 8) note(meta, item.type, data.data);
    if (item.type === '----') noteNamed(meta, item.data);
  }
  return meta;
}

function note(meta: Meta, type: string, data: Buffer): void {
  const kind = data.readUInt32BE(0) & 0xffffff;
  const value = data.subarray(8);
  const cover = COVERS[kind];
  if (type === 'covr') meta.covers.push(cover ?? { codec: 'mjpeg', mime: 'image/jpeg' });
  const name = NAMES[type];
  if (name && kind === 1) meta.tags[name] = value.toString('utf8');
  const number = NUMBERS[type];
  if (number && value.length >= 1 && value.length <= 6) meta.tags[number] = String(value.readIntBE(0, value.length));
}

/** A freeform tag: `mean`, `name` and `data` boxes. */
function noteNamed(meta: Meta, item: Buffer): void {
  const name = box(item, 'name')?.subarray(4).toString('utf8').toLowerCase();
  const data = box(item, 'data');
  if (name && data && data.length > 8 && data[3] === 1) meta.tags[name] = data.subarray(8).toString('utf8');
}

/** Nero's chapter list: start in units of 100 ns and a short name. */
export function neroChapters(udta: Buffer | undefined): Omit<ProbedChapter, 'endMs'>[] {
  const chpl = udta && box(udta, 'chpl');
  if (!chpl || chpl.length < 9) return [];
  const chapters: Omit<ProbedChapter, 'endMs'>[] = [];
  let at = chpl[0] === 0 ? 5 : 9;
  for (let count = chpl[at - 1] ?? 0; count > 0 && at + 9 <= chpl.length; count -= 1) {
    const length = chpl[at + 8] ?? 0;
    const title = chpl.toString('utf8', at + 9, at + 9 + length);
    chapters.push({ startMs: Math.round(Number(chpl.readBigUInt64BE(at)) / 10_000), title });
    at += 9 + length;
  }
  return chapters;
}
