import { extname } from 'node:path';
import type { ProbedFile } from '#platform/media.ts';
import { statMedia } from '#platform/media-bytes.ts';
import { pictureExtensions } from '#platform/media-extensions.ts';
import { withBoundedTexts } from './bounded-texts.ts';
import { ByteSource } from './byte-source.ts';
import { readContent } from './content/pool.ts';
import { ProbeError, Unsure } from './fault.ts';
import { ffprobe } from './ffprobe.ts';
import { fileOf } from './ffprobe-answer.ts';
import { probeMatroska } from './matroska/index.ts';
import { isCut } from './mp4/boxes.ts';
import { probeMp4 } from './mp4/index.ts';
import { probeMusic } from './music/index.ts';
import type { MusicFile } from './music/read.ts';
import { withPictureCaptions } from './picture-captions.ts';
import { PROBE_VERSION, type Probed, type Stretch } from './probed.ts';
import { SNIFF_BYTES, type Sniffed, sniff } from './sniff.ts';

export { ProbeError } from './fault.ts';
export { PROBE_VERSION, type Probed, type Stretch } from './probed.ts';

const RIFF_HEAD = 8;
const RIFF_UNKNOWN = 0xffff_fff0;
/** This many zeros are no encoded video or audio, wherever they are in the file. */
const HOLLOW = 64 * 1024;

/** Readers for what items of other kinds than films are made of. */
export type ReadAs = 'music' | 'file' | 'lesson' | 'book' | 'comic' | 'photo';

export interface ProbeOptions {
  signal?: AbortSignal;
  /** Where the file was found to contain only zeros. */
  zeros?: readonly Stretch[];
  /** Reads what items of another kind than films are made of. */
  as?: ReadAs | undefined;
  /** A track that was read with its hash. */
  music?: MusicFile | undefined;
}

/**
 * Facts about a media file: read in process from the container's own index, or by a sandboxed ffprobe if that is not
 * enough. Throws ProbeError with the fault; any other error is a fault of this machine and may be retried.
 */
export async function probeFile(path: string, options: ProbeOptions = {}): Promise<Probed> {
  const found = await readers[options.as ?? 'film'](path, options);
  return { ...found, file: withBoundedTexts(found.file) };
}

const readers: Record<ReadAs | 'film', (path: string, options: ProbeOptions) => Promise<Probed>> = {
  film: read,
  music: readTrack,
  file: readPlain,
  book: (path, options) => (SOUND.test(path) ? readTrack(path, options) : readTagged('book', path, options)),
  comic: (path, options) => readTagged('comic', path, options),
  photo: (path, options) => (isPicture(path) ? readPicture(path, options) : read(path, options)),
  lesson: (path, options) => (DOCUMENT.test(path) ? readPlain(path) : read(path, options)),
};

const DOCUMENT = /\.(?:pdf|epub|md|html?)$/i;

const SOUND = /\.(?:m4b|mp3|m4a|mp4|aac|flac|ogg|oga|opus|wma|wav)$/i;

const isPicture = (path: string): boolean => pictureExtensions.includes(extname(path).slice(1).toLowerCase());

async function readPicture(path: string, { signal }: ProbeOptions): Promise<Probed> {
  const { container, tags } = await readContent('photo', path, signal);
  return { file: { ...plainFile(container), photo: tags } };
}

/** A book or comic: no streams, but what it says about itself. */
async function readTagged(kind: 'book' | 'comic', path: string, { signal }: ProbeOptions): Promise<Probed> {
  const { container, tags } = await readContent(kind, path, signal);
  return { file: { ...plainFile(container), book: tags } };
}

/** A file without streams: only its size and kind are known. */
async function readPlain(path: string): Promise<Probed> {
  const { size } = await statMedia(path);
  if (size === 0) throw new ProbeError('not-media', 'the file is empty');
  return { file: plainFile(extname(path).slice(1).toLowerCase()) };
}

function plainFile(container: string): ProbedFile {
  const empty = { durationMs: 0, startMs: 0, bitrate: 0, streams: [], chapters: [], tags: {} };
  return { container, ...empty, probeVersion: PROBE_VERSION };
}

async function readTrack(path: string, options: ProbeOptions): Promise<Probed> {
  const { signal, music } = options;
  return probeMusic(path, { signal, music, read: () => read(path, options) });
}

async function read(path: string, options: ProbeOptions): Promise<Probed> {
  const { probed, sniffed, truncated } = await readInProcess(path, options);
  if (probed && sniffed.container === 'mp4') return probed; // its index shows which bytes are samples
  const found = probed ?? { ...(await runFfprobe(path, sniffed, options)), ...(truncated ? { truncated } : {}) };
  const hollow = options.zeros?.some(({ size }) => size >= HOLLOW) && isCoded(found.file);
  return hollow ? { ...found, hollow } : found;
}

/** Raw pixels and audio may be zeros, for black and silence. */
function isCoded({ streams }: ProbedFile): boolean {
  return !streams.some(({ codec }) => /^(raw|pcm)/.test(codec));
}

/** The in-process result alone, or undefined where it is unsure; for tests and the benchmark. */
export async function readInProcess(
  path: string,
  { signal, zeros }: ProbeOptions = {},
): Promise<{ probed: Probed | undefined; sniffed: Sniffed; truncated: boolean }> {
  const source = await opened(path);
  try {
    signal?.throwIfAborted();
    const head = await headOf(source);
    const sniffed = sniff(head);
    const probed = await known(source, sniffed, zeros);
    return { sniffed, truncated: !probed && (await isTruncated(source, sniffed, head)), probed };
  } finally {
    await source.close();
  }
}

/** The result of ffprobe alone; for tests and the benchmark. */
export async function runFfprobe(path: string, sniffed: Sniffed, { signal }: ProbeOptions = {}): Promise<Probed> {
  const show = ['-show_streams', '-show_format', '-show_chapters'];
  const file = fileOf(await ffprobe({ path, sniffed, show, signal }), sniffed);
  return { file: sniffed.container === 'mpegts' ? await withCaptions(path, file) : file };
}

/** ffprobe does not report captions inside of pictures. */
async function withCaptions(path: string, file: ProbedFile): Promise<ProbedFile> {
  const source = await opened(path);
  try {
    return await withPictureCaptions(file, source);
  } finally {
    await source.close();
  }
}

/** For a file whose index ffprobe reads without reporting truncation. */
async function isTruncated(source: ByteSource, { container }: Sniffed, head: Buffer): Promise<boolean> {
  if (container === 'mp4') return isCut(source);
  return container === 'avi' && endsEarly(head, source.size);
}

/** Whether the first RIFF chunk is longer than the file; a file written as a stream declares 0 or the maximum. */
function endsEarly(head: Buffer, size: number): boolean {
  const declared = head.readUInt32LE(4);
  return declared < RIFF_UNKNOWN && declared + RIFF_HEAD > size + 1; // the padding of an odd chunk is often missing
}

async function known(
  source: ByteSource,
  { container }: Sniffed,
  zeros: readonly Stretch[] = [],
): Promise<Probed | undefined> {
  try {
    if (container === 'matroska') return await probeMatroska(source);
    return container === 'mp4' ? await probeMp4(source, zeros) : undefined;
  } catch (error) {
    // A RangeError is a table that ends early: the file is unusual, and ffprobe decides.
    if (error instanceof Unsure || error instanceof RangeError) return undefined;
    throw unreadable(error);
  }
}

async function opened(path: string): Promise<ByteSource> {
  return ByteSource.open(path).catch((error: unknown) => {
    throw unreadable(error);
  });
}

async function headOf(source: ByteSource): Promise<Buffer> {
  return source.read(0, SNIFF_BYTES).catch((error: unknown) => {
    throw unreadable(error);
  });
}

function unreadable(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  return code === undefined ? error : new ProbeError('unreadable', code);
}
