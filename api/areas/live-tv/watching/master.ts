import type { LiveRow } from './access.ts';

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

/** The master playlist: the one rendition that was decided for the session. */
export function liveMaster({ live, decision }: LiveRow, sourceCodec: string | undefined, ticket?: string): string {
  const { video, audio, bitrate } = decision as unknown as Decided;
  const mean = Math.max(Math.round(bitrate), 64_000);
  const videoCodec = video && (video.action === 'encode' ? 'avc1.640028' : sourceCodec);
  // Without the strings of all codecs the attribute is left out, and the player reads the segments.
  const codecs =
    video && !videoCodec ? [] : [videoCodec, audio && AUDIO[audio.codec]].filter((one) => one !== undefined);
  const attributes = [
    `BANDWIDTH=${Math.ceil(mean * PEAK)}`,
    `AVERAGE-BANDWIDTH=${mean}`,
    ...(codecs.length > 0 ? [`CODECS="${codecs.join(',')}"`] : []),
    ...(video ? [`RESOLUTION=${video.width}x${video.height}`] : []),
  ];
  const query = ticket ? `?${new URLSearchParams({ ticket }).toString()}` : '';
  const address = `${encodeURIComponent(live.rendition)}/index.m3u8${query}`;
  return `#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-STREAM-INF:${attributes.join(',')}\n${address}\n`;
}
