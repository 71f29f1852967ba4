import { lstatSync, type Stats } from 'node:fs';
import { parseFromTokenizer } from 'music-metadata';
import type { MusicTags } from '#platform/media.ts';
import { present } from '#workers/present.ts';
import { ProbeError } from '../fault.ts';
import type { Seen } from '../probed.ts';
import { SNIFF_BYTES, type Sniffed, sniff } from '../sniff.ts';
import { BlockFile } from './file-tokenizer.ts';
import { tagsOf } from './tags.ts';

/** Facts about the sound, as music-metadata names them. */
export interface Sound {
  codec?: string;
  seconds?: number;
  sampleRate?: number;
  bitDepth?: number;
  channels?: number;
  bitrate?: number;
}

/** Codec of the picture inside a track. */
export type Cover = 'mjpeg' | 'png';

const coverOf = (mime: string | undefined): Cover | undefined =>
  mime === undefined ? undefined : /png/i.test(mime) ? 'png' : 'mjpeg';

export interface Heard {
  tags: MusicTags;
  sound: Sound;
  cover: Cover | undefined;
}

/** Facts from one opening of an audio file. */
export interface MusicFile {
  size: number;
  /** The file at the path after it was read. */
  after: Seen | undefined;
  sniffed: Sniffed;
  /** Absent if music-metadata cannot read it. */
  heard: Heard | undefined;
}

/** Tags and sound of an audio file. Throws ProbeError for a file that is no media, and for one that cannot be opened. */
export async function readMusic(path: string): Promise<MusicFile> {
  const file = opened(path);
  try {
    return await readOpen(file, path);
  } finally {
    await file.close().catch(() => undefined); // its bytes were read
  }
}

/** The same of a file that is open. */
export async function readOpen(file: BlockFile, path: string): Promise<MusicFile> {
  const sniffed = sniff(headOf(file));
  const heard = await hear(file).catch(() => undefined);
  return { size: file.size, after: after(path), sniffed, heard };
}

/** Undefined where the file system has an error, so that the caller looks itself. */
function after(path: string): Seen | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats && seenIn(stats);
  } catch {
    return undefined;
  }
}

const seenIn = (stats: Stats): Seen => ({
  size: stats.size,
  mtimeMs: stats.mtimeMs,
  isLink: stats.isSymbolicLink(),
});

function opened(path: string): BlockFile {
  return whileReading(() => new BlockFile(path));
}

function headOf(file: BlockFile): Buffer {
  return whileReading(() => file.block(0, SNIFF_BYTES));
}

function whileReading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ProbeError('unreadable', error instanceof Error && 'code' in error ? String(error.code) : 'unknown');
  }
}

async function hear(file: BlockFile): Promise<Heard> {
  const { common, format } = await parseFromTokenizer(file, { duration: false });
  const sound: Sound = present({
    codec: format.codec,
    seconds: format.duration,
    sampleRate: format.sampleRate,
    bitDepth: format.bitsPerSample,
    channels: format.numberOfChannels,
    bitrate: format.bitrate,
  });
  return { tags: tagsOf(common), sound, cover: coverOf(common.picture?.[0]?.format) };
}
