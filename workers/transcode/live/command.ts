import type { RenditionOptions } from '#platform/live/renditions.store.ts';
import type { Encoder } from '../encoders.ts';

const PEAK = 1.5;
/** A keyframe each second: segments begin at the first one after the boundary of the source. */
const KEYFRAMES = 'expr:if(isnan(prev_forced_t),1,gte(t,prev_forced_t+1))';

/** Arguments that encode a transport stream from a pipe to a pipe, on the clock of the source. */
export function liveArguments(options: RenditionOptions, encoder: Encoder, threads: number): string[] {
  const { video, audioBitrate, copiesVideo } = options;
  return [
    ...[
      '-hide_banner',
      '-nostdin',
      '-loglevel',
      'error',
      ...(video ? encoder.device : []),
      '-protocol_whitelist',
      'pipe',
    ],
    ...['-fflags', '+genpts+discardcorrupt', '-probesize', '2000000', '-analyzeduration', '1500000'],
    ...['-copyts', '-f', 'mpegts', '-i', 'pipe:0', '-dn', '-sn'],
    ...(copiesVideo ? ['-map', '0:v:0', '-c:v', 'copy'] : []),
    ...(video ? pictureArguments(video, encoder, threads) : []),
    ...['-map', '0:a:0?', '-af', 'aresample=48000:async=1', '-c:a', 'aac', '-b:a', String(audioBitrate), '-ac', '2'],
    ...['-max_interleave_delta', '500000', '-muxdelay', '0', '-muxpreload', '0', '-flush_packets', '1'],
    ...['-avoid_negative_ts', 'disabled', '-mpegts_copyts', '1', '-f', 'mpegts', 'pipe:1'],
  ];
}

type Pictured = NonNullable<RenditionOptions['video']>;

/** The filters up to the size of the rendition, and those after it. */
function filtersOf({ width, height, deinterlace, fieldRate }: Pictured, encoder: Encoder): [string, string] {
  const before = [
    ...(deinterlace ? [`bwdif=mode=${fieldRate ? 'send_field' : 'send_frame'}`] : []),
    `scale=w=${width}:h=${height}:flags=bicubic`,
  ];
  return [before.join(','), ['setsar=1', 'format=yuv420p', ...encoder.filters].join(',')];
}

/** With picture subtitles laid over the pictures, where they were chosen. */
function mapped(video: Pictured, encoder: Encoder): string[] {
  const [before, after] = filtersOf(video, encoder);
  const { width, height, pictures } = video;
  if (pictures === undefined) return ['-map', '0:v:0', '-vf', `${before},${after}`];
  const graph = [
    `[0:v:0]${before}[film]`,
    `[0:${pictures}]scale=w=${width}:h=${height}[words]`,
    `[film][words]overlay=eof_action=pass,${after}[picture]`,
  ];
  return ['-filter_complex', graph.join(';'), '-map', '[picture]'];
}

function pictureArguments(video: Pictured, encoder: Encoder, threads: number): string[] {
  const { bitrate } = video;
  const rate = String(bitrate);
  return [
    ...[...mapped(video, encoder), '-c:v', encoder.codec, ...encoder.options],
    ...['-profile:v', 'high', '-bf', '0', '-threads:v', String(threads)],
    ...(encoder.gpu ? ['-b:v', rate] : ['-rc-lookahead', '10']),
    ...['-maxrate', rate, '-bufsize', String(Math.round(bitrate * PEAK))],
    ...['-g', '600', '-force_key_frames:v', KEYFRAMES, '-fps_mode:v', 'passthrough'],
  ];
}
