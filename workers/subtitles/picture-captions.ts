import { escapedText, webvttBlock } from '#areas/streaming/public.ts';
import { ffmpegInput } from '#platform/media-bytes.ts';
import { CaptionReader } from '../captions/reader.ts';
import { FILE_CLOCK, guardsOf } from '../transcode/command.ts';
import { ffmpegArguments, startFfmpeg } from '../transcode/ffmpeg.ts';
import { PACKET } from '../transcode/packets.ts';

/** Lines of captions that roll up are whole in a file. */
const GROWTH_MS = 2000;
const LAST_MS = 4000;
const END_MS = 2 ** 40;

/** The captions inside of the pictures of a transport stream as WebVTT: of its services the first that says something. */
export async function pictureCaptions(
  source: { container: string; file: string },
  signal: AbortSignal,
): Promise<Buffer> {
  const reading = [...guardsOf(source.container, source.file), ...FILE_CLOCK, '-an', '-sn', '-dn'];
  const muxing = ['-muxdelay', '0', '-muxpreload', '0', '-avoid_negative_ts', 'disabled', '-mpegts_copyts', '1'];
  const command = {
    inputs: [{ file: ffmpegInput(source.file), options: reading }],
    outputs: [{ target: 'pipe:1', options: ['-map', '0:v:0', '-c', 'copy', ...muxing, '-f', 'mpegts'], rendition: '' }],
  };
  const child = await startFfmpeg(ffmpegArguments(command), { outputs: 1, gpu: false });
  const stop = (): void => child.kill();
  signal.addEventListener('abort', stop);
  const reader = new CaptionReader(GROWTH_MS);
  await readPackets(child.outputs[0] as AsyncIterable<Buffer>, reader);
  const { code, words } = await child.ended;
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (code !== 0) throw new Error(`subtitles: ${words.slice(-300)}`);
  return Buffer.from(webvttOf(reader));
}

async function readPackets(output: AsyncIterable<Buffer>, reader: CaptionReader): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of output) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const whole = bytes.length - (bytes.length % PACKET);
    reader.push(bytes.subarray(0, whole));
    rest = bytes.subarray(whole);
  }
  reader.end();
}

function webvttOf(reader: CaptionReader): string {
  const [cues = []] = reader.services().flatMap(({ id }) => {
    const taken = reader.take(id, END_MS);
    return taken.length > 0 ? [taken] : [];
  });
  const blocks = cues.map(({ startMs, endMs, text, line }) => {
    // A text that nothing ended stays for a moment.
    const ends = endMs === END_MS ? startMs + LAST_MS : endMs;
    const settings = line === undefined ? undefined : `line:${line}%`;
    const times = { startMs: Math.round(startMs), endMs: Math.round(ends) };
    return webvttBlock({ ...times, text: escapedText(text), ...(settings && { settings }) });
  });
  return `WEBVTT\n${blocks.join('')}`;
}
