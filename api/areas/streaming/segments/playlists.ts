import { PEAK } from './codecs.ts';
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
  /** Cast ticket that every listed address repeats. */
  ticket?: string | undefined;
  /** Version of a subtitle's correction, so that no cache shows old times. */
  version?: string | undefined;
}

/** RFC 6381 strings by codec name, for audio whose rendition has none. */
const AUDIO_CODECS: Record<string, string> = {
  aac: 'mp4a.40.2',
  mp3: 'mp4a.40.34',
  ac3: 'ac-3',
  eac3: 'ec-3',
  opus: 'Opus',
  flac: 'fLaC',
  alac: 'alac',
};

/** Bits of the container relative to those of the tracks. The share is larger for audio alone. */
const MUXED = 1.05;
const MUXED_AUDIO = 1.1;

/** Audio renditions of one codec. A variant names one group, and a player that cannot decode it skips the variant. */
interface AudioGroup {
  id: string;
  codec: string;
  tracks: AudioRendition[];
}

/** The group of the default track first. None where audio is not a rendition of its own. */
function audioGroups(plan: StreamPlan): AudioGroup[] {
  if (plan.container === 'ts' || plan.video.length === 0) return [];
  const codecs = [...new Set([defaultOf(plan.audio), ...plan.audio].flatMap((one) => (one ? [one.codec] : [])))];
  return codecs.map((codec) => ({
    id: codecs.length > 1 ? `audio-${codec}` : 'audio',
    codec,
    tracks: plan.audio.filter((one) => one.codec === codec),
  }));
}

/** Master playlist. Its addresses are relative to `/stream/{id}/`. Each video has a variant for each audio group. */
export function masterPlaylist(plan: StreamPlan, options: PlaylistOptions = {}): string {
  const lines = ['#EXTM3U', '#EXT-X-VERSION:7'];
  if (plan.mode === 'encode') lines.push('#EXT-X-INDEPENDENT-SEGMENTS');
  if (plan.startMs > 0) lines.push(`#EXT-X-START:TIME-OFFSET=${seconds(plan.startMs)},PRECISE=YES`);
  const groups = audioGroups(plan);
  for (const group of groups) lines.push(...audioLines(group, options));
  lines.push(...subtitleLines(listed(plan), options));
  for (const video of plan.video) {
    for (const group of groups.length > 0 ? groups : [undefined])
      lines.push(variantLine(plan, video, group), address(video.id, options));
  }
  const [audio] = plan.audio;
  if (plan.video.length === 0 && audio) lines.push(...audioOnlyLines(plan, audio, options));
  return `${lines.join('\n')}\n`;
}

const listed = ({ subtitles }: StreamPlan): SubtitleRendition[] => subtitles.filter(({ removed }) => !removed);

function audioLines({ id, tracks }: AudioGroup, options: PlaylistOptions): string[] {
  const names = uniqueNames(tracks);
  const chosen = defaultOf(tracks);
  return tracks.map((one, i) =>
    tag('EXT-X-MEDIA', {
      TYPE: 'AUDIO',
      'GROUP-ID': quoted(id),
      NAME: names[i] ?? quoted(one.id),
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
      NAME: names[i] ?? quoted(one.id),
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

/** Without a group, the segments of the video contain the first audio track, if there is one. */
function variantLine(plan: StreamPlan, video: VideoRendition, group: AudioGroup | undefined): string {
  const tracks = group?.tracks ?? plan.audio.slice(0, 1);
  const audioBitrate = Math.max(0, ...tracks.map((one) => one.bitrate));
  const codecs = [video.codecString, ...new Set(tracks.map(audioCodec))];
  const { num, den } = exactRate(video.frameRate);
  return tag('EXT-X-STREAM-INF', {
    BANDWIDTH: String(Math.ceil((video.bitrate * PEAK + audioBitrate) * MUXED)),
    'AVERAGE-BANDWIDTH': String(Math.ceil((video.bitrate + audioBitrate) * MUXED)),
    CODECS: quoted(codecs.join(',')),
    RESOLUTION: `${video.width}x${video.height}`,
    'FRAME-RATE': (num / den).toFixed(3),
    'VIDEO-RANGE': rangeOf(video),
    ...(group ? { AUDIO: quoted(group.id) } : {}),
    ...(listed(plan).length > 0 ? { SUBTITLES: quoted('subtitles') } : {}),
  });
}

const audioCodec = ({ codec, codecString }: AudioRendition): string => codecString ?? AUDIO_CODECS[codec] ?? codec;

/** The variant of a stream without video: its first audio track. */
function audioOnlyLines(plan: StreamPlan, audio: AudioRendition, options: PlaylistOptions): string[] {
  const bandwidth = String(Math.ceil(audio.bitrate * MUXED_AUDIO));
  const stream = tag('EXT-X-STREAM-INF', {
    BANDWIDTH: bandwidth,
    'AVERAGE-BANDWIDTH': bandwidth,
    CODECS: quoted(audioCodec(audio)),
    ...(listed(plan).length > 0 ? { SUBTITLES: quoted('subtitles') } : {}),
  });
  return [stream, address(audio.id, options)];
}

/** Encoded video is SDR, because HDR is tone-mapped; Dolby Vision and HDR10 use PQ. */
function rangeOf(video: VideoRendition): string {
  if (video.action === 'encode' || !video.hdr) return 'SDR';
  return video.hdr === 'hlg' ? 'HLG' : 'PQ';
}

/** Playlist of the rendition with this id (`v0`, `a0`, `s0`). It is complete before any segment exists. */
export function mediaPlaylist(plan: StreamPlan, rendition: string, options: PlaylistOptions = {}): string {
  const count = segmentCount(plan);
  const suffix = querySuffix(options);
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

/** Address of a media playlist. */
function address(rendition: string, options: PlaylistOptions): string {
  return `${rendition}/index.m3u8${querySuffix(options)}`;
}

function querySuffix({ ticket, version }: PlaylistOptions): string {
  const query = new URLSearchParams({ ...(version && { v: version }), ...(ticket && { ticket }) }).toString();
  return query && `?${query}`;
}

/** Values of NAME, which must be unique in a group; a repeated name gets a number. */
function uniqueNames(
  tracks: readonly { id: string; title?: string | undefined; language?: string | undefined }[],
): string[] {
  const used = new Set<string>();
  return tracks.map((track, i) => {
    const plain = quoted(track.title?.trim() || track.language || `Track ${Number(track.id.slice(1)) + 1}`);
    let name = plain;
    for (let n = i + 1; used.has(name); n++) name = `${plain.slice(0, -1)} (${n})"`;
    used.add(name);
    return name;
  });
}

/** The track that is marked as default, else the first one. */
function defaultOf<T extends { default: boolean }>(tracks: readonly T[]): T | undefined {
  return tracks.find((track) => track.default) ?? tracks[0];
}

function tag(name: string, attributes: Record<string, string>): string {
  return `#${name}:${Object.entries(attributes)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')}`;
}

/** An attribute value as quoted string, which must not contain quotes or line breaks. */
function quoted(text: string): string {
  return `"${text.replace(/["\r\n]/g, ' ')}"`;
}

const yes = (value: boolean): string => (value ? 'YES' : 'NO');
const seconds = (ms: number): string => (ms / 1000).toFixed(3);
