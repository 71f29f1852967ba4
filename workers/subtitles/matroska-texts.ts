import { decodeText } from '#areas/streaming/public.ts';
import { ByteSource } from '../probe/byte-source.ts';
import { unsure } from '../probe/fault.ts';
import { attachedFiles } from '../probe/matroska/attachments.ts';
import { load } from '../probe/matroska/ebml.ts';
import { ID } from '../probe/matroska/ids.ts';
import { layoutOf, section } from '../probe/matroska/layout.ts';
import { number, type Track, tracksOf } from '../probe/matroska/tracks.ts';
import { type Packet, packetsOf } from './matroska-packets.ts';

/** Small, because the reader jumps from block to block. */
const WINDOW = 4096;

/** One line of text as in its track; times on the film's clock, ms. */
interface Line {
  startMs: number;
  endMs: number;
  text: string;
}

type Writer = (lines: readonly Line[], header: string) => string;

const WRITERS: Readonly<Record<string, Writer>> = {
  'S_TEXT/UTF8': subrip,
  'S_TEXT/ASCII': subrip,
  'S_TEXT/ASS': substation,
  'S_TEXT/SSA': substation,
  S_ASS: substation,
  S_SSA: substation,
  'S_TEXT/WEBVTT': webvtt,
};

export interface TextQuery {
  /** As ffmpeg counts streams. */
  indexes: readonly number[];
  /** The file's clock at the beginning of the film. */
  startMs: number;
  signal: AbortSignal;
}

/**
 * Text tracks of a Matroska file by their index, each as a file of its own kind. Throws Unsure when ffmpeg is needed.
 */
export async function matroskaTexts(
  file: string,
  { indexes, startMs, signal }: TextQuery,
): Promise<Map<number, string>> {
  const source = await ByteSource.open(file, { window: WINDOW });
  try {
    const layout = await layoutOf(source);
    const all = tracksOf((await section(source, layout, ID.tracks)) ?? unsure('no Tracks'));
    const info = (await section(source, layout, ID.info)) ?? unsure('no Info');
    const scale = number(info, ID.scale, 1_000_000) / 1_000_000;
    const wanted = indexes.map((index) => [index, readable(all[index])] as const);
    const tracks = new Map(wanted.map(([, track]) => [track.number, track]));
    const packets = Map.groupBy(await packetsOf({ source, layout, tracks, signal }), (packet) => packet.track);
    return new Map(
      wanted.map(([index, track]) => {
        const lines = linesOf(packets.get(track.number) ?? [], { track, scale, startMs });
        return [index, (WRITERS[track.codec] as Writer)(lines, decodeText(track.codecPrivate))];
      }),
    );
  } finally {
    await source.close();
  }
}

function readable(track: Track | undefined): Track {
  if (track?.type !== 'subtitle' || !WRITERS[track.codec] || (track.packed && !track.zipped))
    unsure('not a text track');
  return track;
}

/** A line without an end is shown until the next one, or for this long. */
const UNTIL_MS = 5000;

function linesOf(
  packets: readonly Packet[],
  { track, scale, startMs }: { track: Track; scale: number; startMs: number },
): Line[] {
  const times = [...new Set(packets.map(({ time }) => time))];
  const after = new Map(times.map((time, i) => [time, times[i + 1] ?? Number.POSITIVE_INFINITY]));
  const lines = packets.map(({ time, duration, bytes }): Line => {
    const at = time * scale - startMs;
    const next = after.get(time) ?? Number.POSITIVE_INFINITY;
    const endMs = duration === undefined ? Math.min(at + UNTIL_MS, next * scale - startMs) : at + duration * scale;
    const text = decodeText(bytes, track.language).replace(/\0/g, '').replace(/\r\n?/g, '\n');
    return { startMs: Math.round(at), endMs: Math.round(endMs), text };
  });
  return lines.filter((line) => line.endMs > 0 && line.endMs > line.startMs);
}

const two = (value: number): string => String(value).padStart(2, '0');

function clock(ms: number, point: string): string {
  const at = Math.max(ms, 0);
  const [h, m, s] = [Math.floor(at / 3_600_000), Math.floor(at / 60_000) % 60, Math.floor(at / 1000) % 60];
  return `${two(h)}:${two(m)}:${two(s)}${point}${String(at % 1000).padStart(3, '0')}`;
}

/** An empty line would end the block. */
const block = (text: string): string => text.trim().replace(/\n[ \t]*\n+/g, '\n');

function subrip(lines: readonly Line[]): string {
  return lines
    .map(({ startMs, endMs, text }, i) => `${i + 1}\n${clock(startMs, ',')} --> ${clock(endMs, ',')}\n${block(text)}\n`)
    .join('\n');
}

function webvtt(lines: readonly Line[]): string {
  const blocks = lines.map(
    ({ startMs, endMs, text }) => `\n${clock(startMs, '.')} --> ${clock(endMs, '.')}\n${block(text)}\n`,
  );
  return `WEBVTT\n${blocks.join('')}`;
}

const EVENTS = '[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n';

/** Hundredths, as the format requires. */
const hundredths = (ms: number): string => clock(ms, '.').slice(0, -1);

/** Blocks are `order, layer, style, …, text`: the order is that of the original file, the times are the container's. */
function substation(lines: readonly Line[], header: string): string {
  const events = lines.flatMap(({ startMs, endMs, text }) => {
    const [, order, layer, rest] = /^(-?\d+),([^,]*),([\s\S]*)$/.exec(text.trim()) ?? [];
    if (order === undefined || rest === undefined) return [];
    const words = rest.replace(/\n/g, '\\N');
    return [
      { order: Number(order), line: `Dialogue: ${layer},${hundredths(startMs)},${hundredths(endMs)},${words}\n` },
    ];
  });
  const head = header.replace(/\0/g, '').replace(/\r\n?/g, '\n').trimEnd();
  const body = events.sort((a, b) => a.order - b.order).map(({ line }) => line);
  return `${head}\n${/^\[Events\]/im.test(head) ? '' : `\n${EVENTS}`}${body.join('')}`;
}

export interface Font {
  /** Position among the attached files. */
  place: number;
  bytes: Buffer;
  mime: string;
}

const MOST_FONTS = 500;
const LARGEST_FONT = 25 * 2 ** 20;

/** The type according to the bytes, whatever the file declares. */
export function fontMime(bytes: Buffer): string | undefined {
  const kind = bytes.toString('latin1', 0, 4);
  if (['\0\x01\0\0', 'true'].includes(kind)) return 'font/ttf';
  return { OTTO: 'font/otf', ttcf: 'font/collection', wOFF: 'font/woff', wOF2: 'font/woff2' }[kind];
}

/** The fonts attached to a Matroska file, one at a time. */
export async function* matroskaFonts(file: string, signal?: AbortSignal): AsyncGenerator<Font> {
  const source = await ByteSource.open(file, { window: WINDOW });
  try {
    const files = await attachedFiles(source, await layoutOf(source));
    let count = 0;
    for (const [place, { data }] of files.entries()) {
      signal?.throwIfAborted();
      if (count === MOST_FONTS || data.size > LARGEST_FONT || data.at + data.size > source.size) continue;
      const mime = fontMime(await source.read(data.at, 4));
      if (!mime) continue;
      count += 1;
      yield { place, bytes: await load(source, data, LARGEST_FONT), mime };
    }
  } finally {
    await source.close();
  }
}
