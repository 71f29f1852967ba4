import {
  type PlanSource,
  planOf,
  type StreamOptions,
  type StreamPlan,
  type VideoOptions,
} from '#areas/streaming/segments/plan.ts';
import { masterPlaylist, mediaPlaylist } from '#areas/streaming/segments/playlists.ts';
import { commandOf } from '#workers/transcode/command.ts';
import { cutterFor } from '#workers/transcode/cutter.ts';
import { SOFTWARE } from '#workers/transcode/encoders.ts';
import { ffmpegArguments, startFfmpeg } from '#workers/transcode/ffmpeg.ts';
import type { Words } from '#workers/transcode/filters.ts';
import { tool } from './hls-validator.ts';

interface FfprobeStream {
  index: number;
  codec_type: string;
  codec_name: string;
  width?: number;
  height?: number;
  avg_frame_rate: string;
  field_order?: string;
  channels?: number;
  tags?: Record<string, string>;
  side_data_list?: { rotation?: number }[];
}

export interface Looked {
  file: string;
  source: PlanSource & { keyframes: number[] };
  durationMs: number;
  streams: FfprobeStream[];
}

const CONTAINERS: Record<string, string> = {
  'matroska,webm': 'matroska',
  'mov,mp4,m4a,3gp,3g2,mj2': 'mp4',
  mpeg: 'mpegps',
};

/** The data that a scan would have of the file. */
export async function look(file: string): Promise<Looked> {
  const shown = ['-v', 'error', '-show_format', '-show_streams', '-of', 'json', file];
  const { format, streams } = JSON.parse((await tool('ffprobe', shown)).toString()) as {
    format: { format_name: string; start_time: string; duration: string };
    streams: FfprobeStream[];
  };
  const startMs = Math.round((Number(format.start_time) || 0) * 1000);
  const packets = [
    '-v',
    'error',
    '-select_streams',
    'v:0',
    '-show_entries',
    'packet=pts_time,flags',
    '-of',
    'csv=p=0',
    file,
  ];
  const keyframes = (await tool('ffprobe', packets))
    .toString()
    .split('\n')
    .filter((line) => line.includes(',K'))
    .map((line) => Math.round(Number.parseFloat(line) * 1000) - startMs)
    .filter((ms) => !Number.isNaN(ms))
    .sort((a, b) => a - b);
  const container = CONTAINERS[format.format_name] ?? format.format_name;
  return {
    file,
    source: { storageId: '', path: '', version: '1', container, startMs, keyframes },
    durationMs: Math.round(Number(format.duration) * 1000),
    streams,
  };
}

export interface StreamChoice {
  mode: 'copy' | 'encode';
  container?: 'fmp4' | 'ts';
  copyAudio?: boolean;
  height?: number;
  startMs?: number;
  deinterlace?: boolean;
  toneMap?: boolean;
}

export function optionsFor(looked: Looked, choice: StreamChoice): StreamOptions {
  const { mode, container = 'fmp4' } = choice;
  const video = looked.streams.find((one) => one.codec_type === 'video');
  return {
    playbackSessionId: '',
    accountId: '',
    profileId: '',
    itemId: '',
    fileId: '',
    mode,
    container,
    durationMs: looked.durationMs,
    startMs: choice.startMs ?? 0,
    ...(video ? { video: [videoOptions(video, choice)] } : {}),
    audio: looked.streams
      .filter((one) => one.codec_type === 'audio')
      .map((one, i) => ({
        streamId: `stream-${one.index}`,
        streamIndex: one.index,
        action: choice.copyAudio ? 'copy' : 'encode',
        sourceCodec: one.codec_name,
        codec: choice.copyAudio ? one.codec_name : 'aac',
        channels: Math.min(one.channels ?? 2, 2),
        bitrate: 96_000,
        language: one.tags?.language,
        default: i === 0,
      })),
    subtitles: [],
  };
}

function videoOptions(video: FfprobeStream, choice: StreamChoice): VideoOptions {
  const [num = 25, den = 1] = video.avg_frame_rate.split('/').map(Number);
  const turned = Math.abs(video.side_data_list?.find((one) => one.rotation)?.rotation ?? 0) % 180 === 90;
  const [width = 2, height = 2] = turned ? [video.height, video.width] : [video.width, video.height];
  const copied = choice.mode === 'copy';
  const made = copied ? height : Math.min(choice.height ?? 90, height);
  return {
    streamIndex: video.index,
    action: choice.mode,
    sourceCodec: video.codec_name,
    codec: copied ? video.codec_name : 'h264',
    width: copied ? width : Math.round((width * made) / height / 2) * 2,
    height: made,
    frameRate: num / den,
    bitrate: 400_000,
    toneMap: choice.toneMap ?? false,
    deinterlace: choice.deinterlace ?? false,
  };
}

/** With the first sound alone: one run of ffmpeg makes one. */
export function planFor(looked: Looked, choice: StreamChoice): StreamPlan {
  const options = optionsFor(looked, choice);
  return planOf({ ...options, audio: options.audio.slice(0, 1) }, looked.source);
}

export interface Rendered {
  /** Files by their address relative to the master playlist. */
  files: Map<string, Buffer>;
  /** The output of ffmpeg. */
  words: string;
  code: number | null;
}

/** Runs ffmpeg and the cutter as a worker does, without one: from segment `from` until segment `to` is there, or the end. */
export async function render(
  looked: Looked,
  plan: StreamPlan,
  { from = 0, to = Number.POSITIVE_INFINITY, words }: { from?: number; to?: number; words?: Words | undefined } = {},
): Promise<Rendered> {
  const files = new Map<string, Buffer>([['master.m3u8', Buffer.from(masterPlaylist(plan))]]);
  const [video, audio] = [plan.video[0]?.id, plan.audio[0]?.id];
  const command = commandOf({
    plan,
    from,
    video,
    audio,
    file: looked.file,
    words,
    keyframes: looked.source.keyframes,
    encoder: SOFTWARE,
    threads: 1,
  });
  const child = await startFfmpeg(ffmpegArguments(command), { outputs: command.outputs.length, gpu: false });
  const waiting = new Set(command.outputs.map((output) => output.rendition));
  await Promise.all(
    command.outputs.map(async ({ rendition }, i) => {
      files.set(`${rendition}/index.m3u8`, Buffer.from(mediaPlaylist(plan, rendition)));
      const cutter = cutterFor(
        { plan, rendition, from },
        {
          onInit: (bytes) => files.set(`${rendition}/segments/init.mp4`, bytes),
          onSegment(n, bytes) {
            if (n <= to) files.set(`${rendition}/segments/${n}.${plan.container === 'ts' ? 'ts' : 'm4s'}`, bytes);
            if (n >= to) waiting.delete(rendition);
            if (waiting.size === 0) child.kill();
          },
        },
      );
      for await (const chunk of child.outputs[i] ?? []) cutter.push(chunk as Buffer);
      if (waiting.size > 0) cutter.end();
    }),
  );
  return { files, ...(await child.ended) };
}

export function readFrom(rendered: Rendered): (path: string) => Promise<Buffer> {
  return async (path) => {
    const found = rendered.files.get(path);
    if (!found) throw new Error(`${path} was not made`);
    return found;
  };
}
