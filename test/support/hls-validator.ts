import { spawn } from 'node:child_process';
import { boxesIn, findBox, timescaleOf } from '#workers/transcode/mp4/boxes.ts';
import { FragmentReader, type Sample } from '#workers/transcode/mp4/fragments.ts';

/** Reads a file of the presentation by its address relative to the master playlist. */
export type ReadHls = (path: string) => Promise<Buffer>;

export interface MediaList {
  path: string;
  target: number;
  map: string | undefined;
  segments: { uri: string; seconds: number }[];
}

export interface CheckedSegment {
  uri: string;
  startSec: number;
  endSec: number;
  samples: Sample[];
}

export interface CheckedRendition {
  path: string;
  kind: 'video' | 'audio' | 'subtitle';
  timescale: number;
  init: Buffer;
  segments: CheckedSegment[];
}

export interface HlsReport {
  faults: string[];
  renditions: CheckedRendition[];
}

const TAGS = new Set(
  'EXTM3U EXT-X-VERSION EXT-X-TARGETDURATION EXT-X-MEDIA-SEQUENCE EXT-X-PLAYLIST-TYPE EXT-X-INDEPENDENT-SEGMENTS EXT-X-MAP EXTINF EXT-X-ENDLIST EXT-X-MEDIA EXT-X-STREAM-INF EXT-X-START'.split(
    ' ',
  ),
);

/** Attributes of a tag's line; throws when the list is not well formed. */
export function attributes(line: string): Record<string, string> {
  const text = line.slice(line.indexOf(':') + 1);
  const found: Record<string, string> = {};
  const pattern = /([A-Z0-9-]+)=("[^"\r\n]*"|[^",\s]+)(,|$)/y;
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (!match) throw new Error(`attributes of ${line}`);
    const [, key = '', value = ''] = match;
    if (key in found) throw new Error(`${key} twice in ${line}`);
    found[key] = value.replace(/^"|"$/g, '');
  }
  return found;
}

function checkLines(text: string, where: string, faults: string[]): string[] {
  const lines = text.split('\n');
  if (lines[0] !== '#EXTM3U') faults.push(`${where}: does not begin with #EXTM3U`);
  if (lines.at(-1) !== '') faults.push(`${where}: does not end with a line end`);
  for (const line of lines) {
    const tag = /^#(EXT[A-Z0-9-]*)/.exec(line)?.[1];
    if (tag && !TAGS.has(tag)) faults.push(`${where}: unknown tag ${tag}`);
  }
  return lines;
}

const resolve = (base: string, uri: string): string =>
  decodeURIComponent(new URL(uri, `http://h/${base}`).pathname.slice(1));

export function parseMedia(text: string, path: string, faults: string[]): MediaList {
  const lines = checkLines(text, path, faults);
  const list: MediaList = { path, target: 0, map: undefined, segments: [] };
  let seconds: number | undefined;
  for (const line of lines) {
    if (line.startsWith('#EXT-X-TARGETDURATION:')) list.target = Number(line.split(':')[1]);
    else if (line.startsWith('#EXT-X-MAP:')) list.map = resolve(path, attributes(line).URI ?? '');
    else if (line.startsWith('#EXTINF:')) seconds = Number.parseFloat(line.slice(8));
    else if (line !== '' && !line.startsWith('#')) {
      if (seconds === undefined) faults.push(`${path}: ${line} without EXTINF`);
      list.segments.push({ uri: resolve(path, line), seconds: seconds ?? 0 });
      seconds = undefined;
    }
  }
  if (!lines.includes('#EXT-X-ENDLIST')) faults.push(`${path}: no ENDLIST`);
  if (!lines.includes('#EXT-X-PLAYLIST-TYPE:VOD')) faults.push(`${path}: not VOD`);
  for (const one of list.segments) {
    if (Math.round(one.seconds) > list.target) faults.push(`${path}: ${one.uri} is longer than the target duration`);
  }
  return list;
}

export interface Master {
  lists: { path: string; kind: 'video' | 'audio' | 'subtitle' }[];
}

const NEEDED = ['BANDWIDTH', 'AVERAGE-BANDWIDTH', 'CODECS'];

export function parseMaster(text: string, faults: string[]): Master {
  const lines = checkLines(text, 'master', faults);
  const lists: Master['lists'] = [];
  const groups = new Set<string>();
  for (const line of lines.filter((one) => one.startsWith('#EXT-X-MEDIA:'))) {
    const found = attributes(line);
    groups.add(`${found.TYPE}:${found['GROUP-ID']}`);
    const kind = found.TYPE === 'AUDIO' ? 'audio' : 'subtitle';
    lists.push({ path: resolve('', found.URI ?? ''), kind });
  }
  for (const [i, line] of lines.entries()) {
    if (!line.startsWith('#EXT-X-STREAM-INF:')) continue;
    const found = attributes(line);
    const moving = found.RESOLUTION !== undefined;
    const wanted = moving ? [...NEEDED, 'RESOLUTION', 'FRAME-RATE', 'VIDEO-RANGE'] : NEEDED;
    for (const key of wanted) if (!(key in found)) faults.push(`master: variant without ${key}`);
    for (const type of ['AUDIO', 'SUBTITLES']) {
      if (found[type] && !groups.has(`${type}:${found[type]}`)) faults.push(`master: no group ${found[type]}`);
    }
    lists.push({ path: resolve('', lines[i + 1] ?? ''), kind: moving ? 'video' : 'audio' });
  }
  return { lists: lists.filter((one, i) => lists.findIndex(({ path }) => path === one.path) === i) };
}

export function samplesOf(init: Buffer, segment: Buffer): Sample[] {
  const samples: Sample[] = [];
  const reader = new FragmentReader({ onInit: () => undefined, onSamples: (some) => samples.push(...some) });
  reader.push(Buffer.concat([init, segment]));
  return samples;
}

/** At a segment's beginning the first pictures are decoded close together: the delay is that of the last one. */
function tailDelay(samples: readonly Sample[], shown: readonly number[]): number {
  return (shown.at(-1) ?? 0) - (samples.at(-1)?.dts ?? 0);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** Of an open group the pictures before its keyframe follow its decode time by a tick each. */
const SHOWN_SLACK_SEC = 0.002;

export interface ValidateOptions {
  durationMs: number;
  /** Copied sound may be that much off: it keeps its gaps, and a container may have a millisecond clock. */
  audioSlackSec?: number;
  /** Check only these segments: those before and behind are not fetched. */
  upTo?: number;
}

/** Fetches everything and looks at every box and sample: all that is wrong, in words. */
export async function validateHls(read: ReadHls, options: ValidateOptions): Promise<HlsReport> {
  const faults: string[] = [];
  const renditions: CheckedRendition[] = [];
  const master = parseMaster((await read('master.m3u8')).toString('utf8'), faults);
  for (const { path, kind } of master.lists) {
    const list = parseMedia((await read(path)).toString('utf8'), path, faults);
    const total = list.segments.reduce((sum, one) => sum + one.seconds, 0);
    if (Math.abs(total - options.durationMs / 1000) > 0.01) faults.push(`${path}: lasts ${total} s`);
    if (kind === 'subtitle') await checkSubtitles(read, list, faults);
    else if (list.map) renditions.push(await checkRendition(read, { list, kind, map: list.map }, { faults, options }));
  }
  return { faults, renditions };
}

interface Checking {
  faults: string[];
  options: ValidateOptions;
}

async function checkRendition(
  read: ReadHls,
  { list, kind, map }: { list: MediaList; kind: 'video' | 'audio'; map: string },
  { faults, options }: Checking,
): Promise<CheckedRendition> {
  const init = await read(map);
  const timescale = timescaleOf(init);
  if (findBox(init, 'moov', 'trak', 'edts')) faults.push(`${map}: has an edit list`);
  const segments: CheckedSegment[] = [];
  for (const { uri } of list.segments.slice(0, options.upTo)) {
    const bytes = await read(uri);
    const types = [...boxesIn(bytes)].map((box) => box.type).join(' ');
    if (types !== 'moof mdat') faults.push(`${uri}: boxes ${types}`);
    const samples = samplesOf(init, bytes);
    const shown = samples.map((sample) => sample.pts).sort((a, b) => a - b);
    const tail = samples.at(-1);
    segments.push({
      uri,
      startSec: (shown[0] ?? Number.NaN) / timescale,
      endSec: ((tail?.dts ?? Number.NaN) + (tail?.duration ?? 0) + tailDelay(samples, shown)) / timescale,
      samples,
    });
    if (samples.length === 0) faults.push(`${uri}: empty`);
    if (kind === 'video' && !samples[0]?.key) faults.push(`${uri}: does not begin with a keyframe`);
    if (((shown[0] ?? 0) - (samples[0]?.dts ?? 0)) / timescale > SHOWN_SLACK_SEC)
      faults.push(`${uri}: is decoded before its first picture is shown`);
    if (samples.some((sample) => sample.pts < sample.dts)) faults.push(`${uri}: shows a picture before it is decoded`);
  }
  const rendition: CheckedRendition = { path: list.path, kind, timescale, init, segments };
  checkTimes(rendition, list, { faults, options });
  return rendition;
}

/** Frames follow one another without a hole over one frame, across segments too, where the playlist requires it. */
function checkTimes(
  { kind, timescale, segments }: CheckedRendition,
  list: MediaList,
  { faults, options }: Checking,
): void {
  const shown = segments.flatMap((one) => one.samples.map((sample) => sample.pts).sort((a, b) => a - b));
  const steps = shown.slice(1).map((pts, i) => pts - (shown[i] ?? 0));
  const frame = median(steps) / timescale;
  const slack = kind === 'audio' ? (options.audioSlackSec ?? 0) : 0;
  for (const [i, step] of steps.entries()) {
    const at = ((shown[i] ?? 0) / timescale).toFixed(3);
    if (step <= 0) faults.push(`${list.path}: time stands still or goes back at ${at}`);
    if (step / timescale > 2 * frame + slack + 1e-6)
      faults.push(`${list.path}: a gap of ${step / timescale} s at ${at}`);
  }
  let sum = 0;
  for (const [n, one] of segments.entries()) {
    const seconds = list.segments[n]?.seconds ?? 0;
    // Pictures that lead an open keyframe are shown before it.
    const begins = kind === 'video' ? (one.samples[0]?.pts ?? 0) / timescale : one.startSec;
    if (Math.abs(begins - sum) > frame + slack + 0.002)
      faults.push(`${one.uri}: begins at ${one.startSec}, listed at ${sum}`);
    const next = segments[n + 1];
    if (next && Math.abs(next.startSec - one.endSec) > slack + 0.0005 + (kind === 'video' ? 0.0015 : 0)) {
      faults.push(`${one.uri}: ends at ${one.endSec}, the next begins at ${next.startSec}`);
    }
    sum += seconds;
  }
}

async function checkSubtitles(read: ReadHls, list: MediaList, faults: string[]): Promise<void> {
  let at = 0;
  for (const { uri, seconds } of list.segments) {
    const text = (await read(uri)).toString('utf8');
    if (!/^WEBVTT\n(X-TIMESTAMP-MAP=MPEGTS:\d+,LOCAL:00:00:00\.000\n)\n/.test(text)) faults.push(`${uri}: head`);
    for (const [, from = '', to = ''] of text.matchAll(/^([\d:.]+) --> ([\d:.]+)/gm)) {
      if (clock(to) <= at || clock(from) >= at + seconds) faults.push(`${uri}: cue ${from} lies outside`);
      if (clock(to) <= clock(from)) faults.push(`${uri}: cue ${from} ends before it begins`);
    }
    at += seconds;
  }
}

const clock = (text: string): number => text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);

/** Runs a tool to its end with `input` on stdin; throws with its words when it fails or complains. */
export async function tool(command: string, args: string[], input?: Buffer): Promise<Buffer> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const out: Buffer[] = [];
  let words = '';
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    words += chunk.toString();
  });
  child.stdin.on('error', () => undefined); // ffmpeg may close its input early
  child.stdin.end(input);
  const code = await new Promise<number | null>((done) => child.once('close', done));
  if (code !== 0 || words.trim() !== '') throw new Error(`${command}: ${code} ${words.slice(0, 600)}`);
  return Buffer.concat(out);
}

export interface Frame {
  pts: number;
  md5: string;
}

/** Checksums and times of every decoded frame of a run of segments. */
export async function frameSums(rendition: CheckedRendition, bytes: Buffer[]): Promise<Frame[]> {
  const args = [
    '-v',
    'error',
    '-f',
    'mp4',
    '-copyts',
    '-i',
    'pipe:0',
    '-fps_mode',
    'passthrough',
    '-f',
    'framemd5',
    '-',
  ];
  const text = (await tool('ffmpeg', args, Buffer.concat([rendition.init, ...bytes]))).toString();
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const parts = line.split(',').map((part) => part.trim());
      return { pts: Number(parts[2]), md5: parts[5] ?? '' };
    });
}

/** Raw decoded bytes: gray pictures 64 wide by 36 high, or 16-bit mono sound at 48 kHz. */
export async function decoded(rendition: CheckedRendition, bytes: Buffer[]): Promise<Buffer> {
  const sort =
    rendition.kind === 'video'
      ? ['-vf', 'scale=64:36', '-pix_fmt', 'gray', '-fps_mode', 'passthrough', '-f', 'rawvideo']
      : ['-ac', '1', '-ar', '48000', '-f', 's16le'];
  const args = ['-v', 'error', '-f', 'mp4', '-copyts', '-i', 'pipe:0', ...sort, 'pipe:1'];
  return tool('ffmpeg', args, Buffer.concat([rendition.init, ...bytes]));
}
