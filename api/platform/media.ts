/** What is known of a media file after a probe: the shape kept in Postgres and read by the playback decision. */

export type StreamKind = 'video' | 'audio' | 'subtitle' | 'attachment';
export type Hdr = 'hdr10' | 'hdr10plus' | 'dolby-vision' | 'hlg';

export interface ProbedStream {
  /** Index in the container, as ffmpeg counts (`0:<index>`). */
  index: number;
  kind: StreamKind;
  /** Our codec words: h264 hevc av1 vp9 vp8 mpeg2 mpeg4 vc1 mjpeg; aac mp3 opus vorbis flac alac pcm ac3 eac3 truehd dts dtshd; subrip ass webvtt mov_text pgs vobsub; else ffmpeg's name. */
  codec: string;
  profile?: string;
  /** As in the codec's headers: 41 is H.264 level 4.1, 120 is HEVC level 4.0. */
  level?: number;
  /** BCP 47. */
  language?: string;
  title?: string;
  default: boolean;
  forced: boolean;
  hearingImpaired: boolean;
  /** In the language that the film was made in, where the container says so. */
  original?: boolean;
  bitrate?: number;
  width?: number;
  height?: number;
  /** Frames a second, such as 23.976. */
  frameRate?: number;
  bitDepth?: number;
  hdr?: Hdr;
  interlaced?: boolean;
  /** Clockwise degrees that a player turns the picture. */
  rotation?: number;
  /** Pixel format of ffmpeg. */
  pixelFormat?: string;
  /** RFC 6381 string for CODECS, such as avc1.640028. */
  codecString?: string;
  channels?: number;
  channelLayout?: string;
  sampleRate?: number;
  /** The picture is a cover, not a film. */
  attachedPicture?: boolean;
  /** Attachments: file name and type (fonts). */
  fileName?: string;
  mime?: string;
}

export interface ProbedChapter {
  startMs: number;
  endMs: number;
  title: string;
}

export interface ProbedFile {
  /** matroska webm mp4 avi mpegts mpegps ogg flac mp3 wav asf flv. */
  container: string;
  durationMs: number;
  /** First timestamp of the file in ms; players count from here, so it is taken off every time we show. */
  startMs: number;
  /** Bits a second of the whole file. */
  bitrate: number;
  streams: ProbedStream[];
  chapters: ProbedChapter[];
  /** Container tags, keys lower case. */
  tags: Record<string, string>;
  /** Version of the probing code; a newer one probes again. */
  probeVersion: number;
}

/** Times in ms of the keyframes of the first real video stream, on the file's own clock minus `startMs`, ascending. */
export type KeyframeIndex = number[];

/** Why a file cannot be probed; kept with the file and shown as a scan issue. */
export type ProbeFault =
  | 'unreadable'
  | 'corrupt'
  | 'probe-timeout'
  | 'not-media'
  | 'playlist-refused'
  | 'codec-refused'
  | 'link-outside';

/** As Postgres keeps an index: differences in ms, each an unsigned 32-bit number, little-endian. */
export function encodeKeyframes(times: KeyframeIndex): Buffer {
  const bytes = Buffer.alloc(times.length * 4);
  let before = 0;
  for (const [i, time] of times.entries()) {
    const at = Math.max(before, time);
    bytes.writeUInt32LE(at - before, i * 4);
    before = at;
  }
  return bytes;
}

export function decodeKeyframes(stored: Buffer): KeyframeIndex {
  const times: number[] = [];
  let at = 0;
  for (let i = 0; i + 4 <= stored.length; i += 4) {
    at += stored.readUInt32LE(i);
    times.push(at);
  }
  return times;
}
