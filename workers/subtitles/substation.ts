// Converts a foreign text file to the one format that is rendered into pictures.
import { writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { decodeText } from '#areas/streaming/public.ts';
import { openBytes } from '#platform/media-bytes.ts';
import { textGuards } from '../transcode/command.ts';
import { ffmpegArguments, startFfmpeg } from '../transcode/ffmpeg.ts';

/** Demuxers of ffmpeg by the extension; only these may open the file. */
const DEMUXERS: Record<string, string> = {
  srt: 'srt',
  vtt: 'webvtt',
  smi: 'sami',
  sub: 'microdvd,subviewer,subviewer1,mpl2',
};
const SUBSTATION = ['ass', 'ssa'];
/** Far more than the text of a film. */
const MOST_BYTES = 32 << 20;

/**
 * Converts a foreign text file to `words.ass` in `folder`, in UTF-8, guessing its encoding by the language; returns the
 * path. Throws if it is no known text subtitle.
 */
export async function substationFile(file: string, folder: string, language?: string): Promise<string> {
  return writeSubstation(decodeText(await headOf(file), language), extname(file).slice(1).toLowerCase(), folder);
}

/** The same for a text that we extracted from a film: ASS, WebVTT or SubRip, like its track. */
export async function substationText(text: string, folder: string): Promise<string> {
  const format = text.startsWith('WEBVTT') ? 'vtt' : /^\s{0,9}\[/.test(text) ? 'ass' : 'srt';
  return writeSubstation(text, format, folder);
}

async function writeSubstation(text: string, format: string, folder: string): Promise<string> {
  const target = join(folder, 'words.ass');
  if (SUBSTATION.includes(format)) {
    await writeFile(target, text);
    return target;
  }
  const demuxers = DEMUXERS[format];
  if (!demuxers) throw new Error(`no text is read from .${format}`);
  const source = join(folder, 'words.txt');
  await writeFile(source, text);
  await writeFile(target, await converted(source, demuxers));
  return target;
}

async function headOf(file: string): Promise<Buffer> {
  const bytes = await openBytes(file);
  try {
    if (bytes.size > MOST_BYTES) throw new Error('the text file is too large');
    return await bytes.read(0, bytes.size);
  } finally {
    await bytes.close();
  }
}

async function converted(source: string, demuxers: string): Promise<Buffer> {
  const options = ['-map', '0:s:0', '-c:s', 'ass', '-f', 'ass'];
  const command = {
    inputs: [{ file: `file:${source}`, options: textGuards(demuxers) }],
    outputs: [{ target: 'pipe:1', options, rendition: 'words' }],
  };
  const child = await startFfmpeg(ffmpegArguments(command), { outputs: 1, gpu: false });
  const [bytes, { code, words }] = await Promise.all([child.outputs[0]?.toArray(), child.ended]);
  if (code !== 0) throw new Error(`subtitles: ${words.slice(-300)}`);
  return Buffer.concat((bytes ?? []) as Buffer[]);
}
