import { type StreamPlan, textTrackKey } from '#areas/streaming/public.ts';
import type { Objects } from '#platform/objects.ts';
import { demuxerOf, GUARDS } from './command.ts';
import { type FfmpegProcess, ffmpegArguments, startFfmpeg } from './ffmpeg.ts';

const BUCKET = 'foyer-subtitles';

export interface TextTracks {
  /** Resolves to the tracks that were stored, or to nothing when the file has none to take out. */
  done: Promise<number[]>;
  stop(): void;
}

/** Takes the text tracks of a plan out of the file as WebVTT, all in one reading, once for all sessions of the file. */
export function takeOutTextTracks(plan: StreamPlan, file: string, objects: Objects): TextTracks {
  let child: FfmpegProcess | undefined;
  let stopped = false;
  const work = async (): Promise<number[]> => {
    const missing = await missingTracks(plan, objects);
    if (missing.length === 0 || stopped) return [];
    const demuxer = demuxerOf(plan.source.container);
    const command = {
      inputs: [
        {
          file: `file:${file}`,
          options: [
            ...GUARDS,
            ...['-copyts', '-start_at_zero'],
            ...(demuxer ? ['-f', demuxer] : []),
            ...['-vn', '-an', '-dn'],
          ],
        },
      ],
      outputs: missing.map((index, i) => ({
        target: `pipe:${i === 0 ? 1 : i + 2}`,
        options: ['-map', `0:${index}`, '-c:s', 'webvtt', '-f', 'webvtt'],
        rendition: String(index),
      })),
    };
    child = await startFfmpeg(ffmpegArguments(command), { outputs: missing.length, gpu: false });
    const texts = await Promise.all(
      child.outputs.map(async (output) => Buffer.concat((await output.toArray()) as Buffer[])),
    );
    const { code, words } = await child.ended;
    if (stopped) return [];
    if (code !== 0) throw new Error(`subtitles: ${words.slice(-300)}`);
    await Promise.all(
      missing.map((index, i) => objects.put(BUCKET, textTrackKey(plan.source, index), texts[i] ?? Buffer.alloc(0))),
    );
    return missing;
  };
  return {
    done: work(),
    stop() {
      stopped = true;
      child?.kill();
    },
  };
}

async function missingTracks(plan: StreamPlan, objects: Objects): Promise<number[]> {
  const inside = plan.subtitles.flatMap((one) => (one.externalPath ? [] : [one.streamIndex ?? -1]));
  const wanted = [...new Set(inside)].filter((index) => index >= 0);
  const there = await Promise.all(wanted.map((index) => objects.stat(BUCKET, textTrackKey(plan.source, index))));
  return wanted.filter((_, i) => there[i] === undefined);
}
