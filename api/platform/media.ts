/** Facts about a media file after a probe: the form stored in Postgres and read by the playback decision. */

export type StreamKind = 'video' | 'audio' | 'subtitle' | 'attachment';
export type Hdr = 'hdr10' | 'hdr10plus' | 'dolby-vision' | 'hlg';

/** Index of the track that captions inside of pictures make; the streams of no file reach it, and sidecars begin at 1000. */
export const PICTURE_CAPTIONS = 900;

export interface ProbedStream {
  /** Index in the container, as ffmpeg counts (`0:<index>`). */
  index: number;
  kind: StreamKind;
  /**
   * Our codec names: h264 hevc av1 vp9 vp8 mpeg2 mpeg4 vc1 mjpeg; aac mp3 opus vorbis flac alac pcm ac3 eac3 truehd dts
   * dtshd; subrip ass webvtt mov_text pgs vobsub; otherwise ffmpeg's name.
   */
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
  /** In the original language of the film, if the container says so. */
  original?: boolean;
  bitrate?: number;
  width?: number;
  height?: number;
  /** Frames per second, such as 23.976. */
  frameRate?: number;
  bitDepth?: number;
  hdr?: Hdr;
  interlaced?: boolean;
  /** Degrees clockwise by which a player rotates the picture. */
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
  /** Of attachments: file name and type (fonts). */
  fileName?: string;
  mime?: string;
}

export interface ProbedChapter {
  startMs: number;
  endMs: number;
  title: string;
}

/** What the tags of a track say about it, of ID3, Vorbis comments, MP4 and APE alike. */
export interface MusicTags {
  title?: string;
  /** Performers of the track, the main one first. */
  artists: string[];
  album?: string;
  /** Empty where the file names none. */
  albumArtists: string[];
  track?: number;
  disc?: number;
  discs?: number;
  discTitle?: string;
  compilation: boolean;
  /** YYYY, YYYY-MM or YYYY-MM-DD; the first release if the file names it, else this one's. */
  date?: string;
  genres: string[];
  labels: string[];
  composers: string[];
  /** Sort forms of `title`, `album` and the first album artist. */
  sorts: { title?: string; album?: string; albumArtist?: string };
  /** MusicBrainz ids: release, releaseGroup, recording, artist, albumArtist; also isrc and barcode. */
  ids: Record<string, string>;
}

/** What a picture says about itself. */
export interface PhotoTags {
  /** Pixels as it is shown, turned by its orientation. */
  width?: number;
  height?: number;
  /** By the clock of the camera: YYYY-MM-DDTHH:MM:SS, perhaps with a fraction. */
  takenLocal?: string;
  /** Minutes that this clock was ahead of UTC. */
  offsetMinutes?: number;
  camera?: string;
  lens?: string;
  exposure?: { shutter?: string; aperture?: number; iso?: number; focalMm?: number };
  place?: { latitude: number; longitude: number; altitudeM?: number };
  description?: string;
  keywords: string[];
}

/** What a book, an audiobook or a comic says about itself. */
export interface BookTags {
  title?: string;
  sortTitle?: string;
  authors: string[];
  narrators: string[];
  illustrators: string[];
  translators: string[];
  /** BCP 47. */
  language?: string;
  publisher?: string;
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  date?: string;
  isbn?: string;
  description?: string;
  genres: string[];
  series?: { title: string; number?: string; volume?: string };
  pages?: number;
  direction?: 'ltr' | 'rtl' | 'vertical';
  ageRating?: string;
}

export interface ProbedFile {
  /** matroska webm mp4 avi mpegts mpegps ogg flac mp3 aac wav aiff asf flv ape wavpack dsf musepack. */
  container: string;
  durationMs: number;
  /** First timestamp of the file in ms; it is subtracted from all times that players see. */
  startMs: number;
  /** Bits per second of the whole file. */
  bitrate: number;
  streams: ProbedStream[];
  chapters: ProbedChapter[];
  /** Container tags, keys lower case. */
  tags: Record<string, string>;
  /** Of files in libraries of music. */
  music?: MusicTags;
  /** Of pictures in libraries of photos. */
  photo?: PhotoTags;
  /** Of files in libraries of books and comics. */
  book?: BookTags;
  /** Version of the probing code; files with an older one are probed again. */
  probeVersion: number;
}

/** Times in ms of the keyframes of the first real video stream, ascending, on the file's own clock minus `startMs`. */
export type KeyframeIndex = number[];

/** Why a file cannot be probed; stored with the file and shown as a scan issue. */
export type ProbeFault =
  | 'unreadable'
  | 'corrupt'
  | 'probe-timeout'
  | 'not-media'
  | 'playlist-refused'
  | 'codec-refused'
  | 'unsafe-archive'
  | 'link-outside';

/** The stored form of an index: differences in ms, each an unsigned 32-bit number, little-endian. */
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
