// Films whose pictures carry their own number, so that a test reads from the screen which frame is shown.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { encodeKeyframes } from '#platform/media.ts';
import type { Api } from '#support/api.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { look } from '#support/hls-render.ts';
import { temporaryFolder } from '#support/stores.ts';

export const FPS = 25;
const [WIDTH, HEIGHT] = [256, 144];
const BITS = 16;
const BLOCK = WIDTH / BITS;
/** The strip of black and white blocks at the top. */
const STRIP = 24;

/** A picture with its number as blocks, most significant first, over a gradient that moves. */
function picture(n: number): Buffer {
  const frame = Buffer.alloc(WIDTH * HEIGHT);
  for (let y = 0; y < HEIGHT; y++)
    for (let x = 0; x < WIDTH; x++) {
      const bit = (n >> (BITS - 1 - Math.floor(x / BLOCK))) & 1;
      frame[y * WIDTH + x] = y < STRIP ? (bit ? 235 : 16) : 40 + ((x + y + n) % 90);
    }
  return frame;
}

async function write(child: ChildProcess, seconds: number): Promise<void> {
  const { stdin } = child;
  for (let n = 0; n < seconds * FPS; n++) if (!stdin?.write(picture(n)) && stdin) await once(stdin, 'drain');
  stdin?.end();
}

export interface Recipe {
  /** `.mp4` plays directly in Chromium; `.mkv` is streamed. */
  name: string;
  seconds: number;
  /** Languages of the audio tracks; each has a tone of its own. */
  audio?: readonly string[];
  /** Of the video, filled up; without it a film is so small that a browser loads all of it at once. */
  kbits?: number;
  /** Fonts that are attached, by their names; for `.mkv`. */
  fonts?: Readonly<Record<string, Buffer>>;
}

const qualityOf = (kbits: number | undefined): string[] =>
  kbits === undefined
    ? ['-crf', '18']
    : [
        ...['b:v', 'minrate', 'maxrate', 'bufsize'].flatMap((name) => [`-${name}`, `${kbits}k`]),
        '-x264-params',
        'nal-hrd=cbr:filler=1',
      ];

const FONT_TYPE = ['-metadata:s:t', 'mimetype=font/ttf'];

/** Makes the file with ffmpeg. */
export async function makeFilm(
  folder: string,
  { name, seconds, audio = ['eng'], fonts, kbits }: Recipe,
): Promise<string> {
  const path = join(folder, name);
  const attached = Object.entries(fonts ?? {}).flatMap(([font, bytes]) => {
    const at = join(temporaryFolder('fonts'), font);
    writeFileSync(at, bytes);
    return ['-attach', at];
  });
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'gray', '-s', `${WIDTH}x${HEIGHT}`, '-r', String(FPS), '-i', 'pipe:0'];
  const tones = audio.flatMap((_, i) => ['-f', 'lavfi', '-i', `sine=frequency=${220 * (i + 1)}:duration=${seconds}`]);
  const maps = [
    '-map',
    '0:v',
    ...audio.flatMap((tag, i) => ['-map', `${i + 1}:a`, `-metadata:s:a:${i}`, `language=${tag}`]),
  ];
  const video = [
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    '-g',
    String(FPS * 2),
    ...(name.endsWith('.mkv') ? ['-bf', '2'] : []), // as films have: pictures are decoded in another order than shown
    ...qualityOf(kbits),
  ];
  const rest = [
    '-c:a',
    'aac',
    '-b:a',
    '64k',
    '-shortest',
    ...(name.endsWith('.mp4') ? ['-movflags', '+faststart'] : []),
  ];
  const args = ['-v', 'error', '-y', ...raw, ...tones, ...maps, ...video, ...rest, ...attached, ...FONT_TYPE, path];
  const child = spawn('ffmpeg', args, { stdio: ['pipe', 'inherit', 'inherit'] });
  const ended = once(child, 'exit');
  await write(child, seconds);
  const [code] = await ended;
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}`);
  return path;
}

export interface Sidecar {
  /** Next to the film, such as `film.de.srt`. */
  name: string;
  text: string;
  codec: 'subrip' | 'ass' | 'webvtt';
  language: string;
}

const LANGUAGES: Readonly<Record<string, string>> = { eng: 'en', deu: 'de', fra: 'fr' };

export interface Shelf {
  library: GivenLibrary;
  folder: string;
}

/** A library over a folder of the media root. */
export async function shelf(api: Api, type = 'movies'): Promise<Shelf> {
  const library = await givenLibrary(api.deps.db, type);
  const folder = join(api.mediaRoot, 'media', library.id);
  mkdirSync(folder, { recursive: true });
  return { library, folder };
}

export interface GivenFilm {
  itemId: string;
  fileId: string;
}

interface Added extends Recipe {
  title: string;
  sidecars?: readonly Sidecar[];
  /** Of the item's row. */
  item?: Record<string, unknown>;
  /** Beginnings of chapters in seconds. */
  chapters?: readonly number[];
}

/** Makes a film in the library and the rows that a scan would have made of it. */
export async function addFilm(api: Api, { library, folder }: Shelf, film: Added): Promise<GivenFilm> {
  const { db } = api.deps;
  const path = await makeFilm(folder, film);
  const looked = await look(path);
  const { size, mtimeMs } = statSync(path);
  const itemId = await givenItem(db, library, {
    title: film.title,
    top: true,
    runtime_ms: looked.durationMs,
    ...film.item,
  });
  const inside = looked.streams.filter(({ codec_type }) => codec_type !== 'attachment');
  const attachments = looked.streams.filter(({ codec_type }) => codec_type === 'attachment');
  const streams = inside.map((stream) => ({
    stream_index: stream.index,
    kind: stream.codec_type,
    codec: stream.codec_name,
    language: LANGUAGES[stream.tags?.language ?? ''],
    is_default: stream.index < 2,
    probe:
      stream.codec_type === 'video'
        ? { profile: 'High', level: 30, width: WIDTH, height: HEIGHT, frameRate: FPS, bitDepth: 8 }
        : { channels: 1, sampleRate: 44_100 },
  }));
  const sidecars = (film.sidecars ?? []).map((one, i) => {
    const at = join(dirname(path), one.name);
    writeFileSync(at, one.text);
    return {
      stream_index: 1000 + i,
      kind: 'subtitle',
      codec: one.codec,
      language: one.language,
      external_path: `media/${library.id}/${one.name}`,
      external_size: statSync(at).size,
      external_modified_ms: statSync(at).mtimeMs,
    };
  });
  const fileId = await givenFile(db, library, itemId, {
    path: film.name,
    container: looked.source.container,
    duration_ms: looked.durationMs,
    start_ms: looked.source.startMs,
    size_bytes: size,
    modified_ms: Math.round(mtimeMs),
    bitrate: Math.round((size * 8000) / looked.durationMs),
    keyframes: encodeKeyframes(looked.source.keyframes),
    streams: [...streams, ...sidecars],
    probe: {
      container: looked.source.container,
      startMs: looked.source.startMs,
      durationMs: looked.durationMs,
      streams: [
        ...inside.map(({ index, codec_type: kind, codec_name: codec }) => ({ index, kind, codec })),
        ...attachments.map(({ index, tags }) => ({
          ...{ index, kind: 'attachment', fileName: tags?.filename, mime: tags?.mimetype },
        })),
      ],
    },
  });
  const chapters = (film.chapters ?? []).map((at, i) => ({
    file_id: fileId,
    number: i,
    title: `Part ${i + 1}`,
    start_ms: at * 1000,
    end_ms: (film.chapters?.[i + 1] ?? film.seconds) * 1000,
  }));
  if (chapters.length > 0) await db('chapters').insert(chapters);
  return { itemId, fileId };
}

/** The number of the picture that the media element shows. */
export const shownFrame = (page: Page): Promise<number> =>
  page.evaluate<number>(`(() => {
    const video = document.querySelector('video');
    const canvas = document.createElement('canvas');
    canvas.width = ${WIDTH};
    canvas.height = ${STRIP};
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.drawImage(video, 0, 0, video.videoWidth, (${STRIP} * video.videoHeight) / ${HEIGHT}, 0, 0, ${WIDTH}, ${STRIP});
    let n = 0;
    for (let bit = 0; bit < ${BITS}; bit++)
      n = n * 2 + (context.getImageData((bit + 0.5) * ${BLOCK}, ${STRIP / 2}, 1, 1).data[0] > 128 ? 1 : 0);
    return n;
  })()`);

export interface Playing {
  at: number;
  paused: boolean;
  ended: boolean;
  ready: number;
  src: string;
  rate: number;
}

export const playing = (page: Page): Promise<Playing> =>
  page.evaluate<Playing>(`(() => {
    const { currentTime: at, paused, ended, readyState: ready, currentSrc: src, playbackRate: rate } =
      document.querySelector('video') ?? { currentTime: 0, paused: true, ended: false, readyState: 0, currentSrc: '', playbackRate: 1 };
    return { at, paused, ended, ready, src, rate };
  })()`);
