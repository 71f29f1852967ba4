import {
  type AudioRendition,
  type StreamPlan,
  type SubtitleRendition,
  segmentCount,
  segmentStartMs,
  type VideoRendition,
} from './plan.ts';
import { exactRate } from './rate.ts';

export interface PlaylistOptions {
  /** Cast ticket that every listed address carries on. */
  ticket?: string | undefined;
}

const AUDIO_CODECS: Record<string, string> = {
  aac: 'mp4a.40.2',
  mp3: 'mp4a.40.34',
  ac3: 'ac-3',
  eac3: 'ec-3',
  opus: 'Opus',
  flac: 'fLaC',
  alac: 'alac',
};

/** The encoder may pass its mean by so much; told to the encoder too. */
export const PEAK = 1.5;

/** Master playlist, relative to `/stream/{id}/`. */
export function masterPlaylist(plan: StreamPlan, options: PlaylistOptions = {}): string {
  const lines = ['#EXTM3U', '#EXT-X-VERSION:7'];
  if (plan.mode === 'encode') lines.push('#EXT-X-INDEPENDENT-SEGMENTS');
  if (plan.startMs > 0) lines.push(`#EXT-X-START:TIME-OFFSET=${seconds(plan.startMs)},PRECISE=YES`);
  const grouped = plan.container === 'fmp4' && plan.video.length > 0;
  if (grouped) lines.push(...audioLines(plan.audio, options));
  lines.push(...subtitleLines(plan.subtitles, options));
  if (plan.video.length > 0) for (const video of plan.video) lines.push(...variantLines(plan, video, options));
  else for (const audio of plan.audio.slice(0, 1)) lines.push(...soundLines(plan, audio, options));
  return `${lines.join('\n')}\n`;
}

function audioLines(audio: readonly AudioRendition[], options: PlaylistOptions): string[] {
  const names = uniqueNames(audio);
  const chosen = defaultOf(audio);
  return audio.map((one, i) =>
    tag('EXT-X-MEDIA', {
      TYPE: 'AUDIO',
      'GROUP-ID': quoted('audio'),
      NAME: quoted(names[i] ?? one.id),
      ...(one.language ? { LANGUAGE: quoted(one.language) } : {}),
      DEFAULT: yes(one === chosen),
      AUTOSELECT: 'YES',
      CHANNELS: quoted(String(one.channels)),
      URI: quoted(address(one.id, options)),
    }),
  );
}

function subtitleLines(subtitles: readonly SubtitleRendition[], options: PlaylistOptions): string[] {
  const names = uniqueNames(subtitles);
  const chosen = subtitles.find((one) => one.default);
  return subtitles.map((one, i) =>
    tag('EXT-X-MEDIA', {
      TYPE: 'SUBTITLES',
      'GROUP-ID': quoted('subtitles'),
      NAME: quoted(names[i] ?? one.id),
      ...(one.language ? { LANGUAGE: quoted(one.language) } : {}),
      DEFAULT: yes(one === chosen),
      AUTOSELECT: 'YES',
      FORCED: yes(one.forced),
      ...(one.hearingImpaired
        ? {
            CHARACTERISTICS: quoted(
              'public.accessibility.transcribes-spoken-dialog,public.accessibility.describes-music-and-sound',
            ),
          }
        : {}),
      URI: quoted(address(one.id, options)),
    }),
  );
}

function variantLines(plan: StreamPlan, video: VideoRendition, options: PlaylistOptions): string[] {
  const sounds = plan.container === 'ts' ? plan.audio.slice(0, 1) : plan.audio;
  const loudest = Math.max(0, ...sounds.map((one) => one.bitrate));
  const codecs = [video.codecString, ...new Set(sounds.map((one) => AUDIO_CODECS[one.codec] ?? one.codec))];
  const { num, den } = exactRate(video.frameRate);
  const stream = tag('EXT-X-STREAM-INF', {
    BANDWIDTH: String(Math.ceil((video.bitrate * PEAK + loudest) * 1.05)),
    'AVERAGE-BANDWIDTH': String(Math.ceil((video.bitrate + loudest) * 1.05)),
    CODECS: quoted(codecs.join(',')),
    RESOLUTION: `${video.width}x${video.height}`,
    'FRAME-RATE': (num / den).toFixed(3),
    'VIDEO-RANGE': rangeOf(video),
    ...(plan.container === 'fmp4' && plan.audio.length > 0 ? { AUDIO: quoted('audio') } : {}),
    ...(plan.subtitles.length > 0 ? { SUBTITLES: quoted('subtitles') } : {}),
  });
  return [stream, address(video.id, options)];
}

function soundLines(plan: StreamPlan, audio: AudioRendition, options: PlaylistOptions): string[] {
  const bandwidth = String(Math.ceil(audio.bitrate * 1.1));
  const stream = tag('EXT-X-STREAM-INF', {
    BANDWIDTH: bandwidth,
    'AVERAGE-BANDWIDTH': bandwidth,
    CODECS: quoted(AUDIO_CODECS[audio.codec] ?? audio.codec),
    ...(plan.subtitles.length > 0 ? { SUBTITLES: quoted('subtitles') } : {}),
  });
  return [stream, address(audio.id, options)];
}

function rangeOf(video: VideoRendition): string {
  if (video.action === 'encode' || !video.hdr) return 'SDR';
  return video.hdr === 'hlg' ? 'HLG' : 'PQ';
}

/** Playlist of one rendition: complete and final from the plan alone. `undefined` for one that the plan lacks. */
export function mediaPlaylist(plan: StreamPlan, rendition: string, options: PlaylistOptions = {}): string {
  const count = segmentCount(plan);
  const suffix = ticketSuffix(options);
  const type = rendition.startsWith('s') ? 'vtt' : plan.container === 'ts' ? 'ts' : 'm4s';
  const lines: string[] = [];
  let longest = 0;
  for (let n = 0; n < count; n++) {
    const ms = segmentStartMs(plan, n + 1) - segmentStartMs(plan, n);
    longest = Math.max(longest, ms);
    lines.push(`#EXTINF:${seconds(ms)},`, `segments/${n}.${type}${suffix}`);
  }
  const head = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${Math.max(1, Math.ceil(longest / 1000))}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    ...(plan.mode === 'encode' ? ['#EXT-X-INDEPENDENT-SEGMENTS'] : []),
    ...(type === 'm4s' ? [`#EXT-X-MAP:URI="segments/init.mp4${suffix}"`] : []),
  ];
  return `${[...head, ...lines, '#EXT-X-ENDLIST'].join('\n')}\n`;
}

function address(rendition: string, options: PlaylistOptions): string {
  return `${rendition}/index.m3u8${ticketSuffix(options)}`;
}

function ticketSuffix({ ticket }: PlaylistOptions): string {
  return ticket ? `?ticket=${encodeURIComponent(ticket)}` : '';
}

/** NAME must be unique in a group. */
function uniqueNames(
  tracks: readonly { id: string; title?: string | undefined; language?: string | undefined }[],
): string[] {
  const plain = tracks.map(
    (track) => track.title?.trim() || track.language || `Track ${Number(track.id.slice(1)) + 1}`,
  );
  return plain.map((name, i) => (plain.indexOf(name) === i ? name : `${name} (${i + 1})`));
}

function defaultOf<T extends { default: boolean }>(tracks: readonly T[]): T | undefined {
  return tracks.find((track) => track.default) ?? tracks[0];
}

function tag(name: string, attributes: Record<string, string>): string {
  return `#${name}:${Object.entries(attributes)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')}`;
}

/** A quoted string may hold neither a quote nor a line break. */
function quoted(text: string): string {
  return `"${text.replace(/["\r\n]/g, ' ')}"`;
}

const yes = (value: boolean): string => (value ? 'YES' : 'NO');
const seconds = (ms: number): string => (ms / 1000).toFixed(3);
