import type { CaptionService } from '#platform/live/captions.ts';
import type { LiveRow } from './access.ts';
import { captionLines } from './captions.ts';

const AUDIO: Record<string, string> = {
  aac: 'mp4a.40.2',
  mp3: 'mp4a.40.34',
  mp2: 'mp4a.40.33',
  ac3: 'ac-3',
  eac3: 'ec-3',
};
/** Peak of a broadcast relative to its mean. */
const PEAK = 1.4;

interface Decided {
  video?: { action: string; codec: string; width: number; height: number };
  audio?: { codec: string };
  bitrate: number;
}

interface Received {
  /** RFC 6381 string of the pictures. */
  videoCodec?: string | undefined;
  captions?: readonly CaptionService[] | undefined;
}

/** RFC 6381 strings. Without those of all codecs the attribute is left out, and the player reads the segments. */
function codecsOf({ video, audio }: Decided, source: string | undefined): string[] {
  const videoCodec = video && (video.action === 'encode' ? 'avc1.640028' : source);
  if (video && !videoCodec) return [];
  return [videoCodec, audio && AUDIO[audio.codec]].filter((one) => one !== undefined);
}

/** The master playlist: the one rendition that was decided for the session, and the captions of the channel. */
export function liveMaster({ live, decision }: LiveRow, received: Received, ticket?: string): string {
  const decided = decision as unknown as Decided;
  const { video, bitrate } = decided;
  const mean = Math.max(Math.round(bitrate), 64_000);
  const codecs = codecsOf(decided, received.videoCodec);
  const query = ticket ? `?${new URLSearchParams({ ticket }).toString()}` : '';
  const captions = captionLines(received.captions ?? [], query);
  const attributes = [
    `BANDWIDTH=${Math.ceil(mean * PEAK)}`,
    `AVERAGE-BANDWIDTH=${mean}`,
    ...(codecs.length > 0 ? [`CODECS="${codecs.join(',')}"`] : []),
    ...(video ? [`RESOLUTION=${video.width}x${video.height}`] : []),
    // Those inside of the pictures are the same ones: a player would show them twice.
    ...(captions.length > 0 ? ['SUBTITLES="captions"', 'CLOSED-CAPTIONS=NONE'] : []),
  ];
  const address = `${encodeURIComponent(live.rendition)}/index.m3u8${query}`;
  const lines = ['#EXTM3U', '#EXT-X-VERSION:8', ...captions, `#EXT-X-STREAM-INF:${attributes.join(',')}`, address];
  return `${lines.join('\n')}\n`;
}
