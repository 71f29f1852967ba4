// The captions of a segment, as the tuner's process reads them from the broadcast and stores them with it.
import { firstBytes } from '../bytes.ts';
import { ObjectMissing, type Objects } from '../objects.ts';
import { captionsName, LIVE_BUCKET, type LiveSegment, segmentName } from './segments.ts';

declare module '../column-types.ts' {
  interface ColumnTypes {
    'live_streams.captions': CaptionService[];
  }
}

/** A text on the screen. */
export interface CaptionCue {
  startMs: number;
  endMs: number;
  /** Lines in order. */
  text: string;
  /** Top of the text in percent of the height; absent for the usual place at the bottom. */
  line?: number;
}

/** Captions of a broadcast. */
export interface CaptionService {
  /** `cc1` to `cc4`, `service1` and so on, or `page888`. */
  id: string;
  kind: 'cea608' | 'cea708' | 'teletext';
  /** ISO 639-2; `und` if the broadcast does not name it. */
  language: string;
  hearingImpaired: boolean;
}

export interface SegmentCaptions {
  /** Presentation time of the first picture, in ticks of 90 kHz. */
  ticks: number;
  /** Times of the cues count from that picture. */
  services: (CaptionService & { cues: CaptionCue[] })[];
}

/** The id of a caption service is the name of its rendition. */
export const CAPTION_RENDITION: RegExp = /^(cc[1-4]|service\d{1,2}|page[1-8][\da-f]{2})$/;

/** Limit of the captions of a segment. */
export const MOST_CAPTION_BYTES = 256 << 10;

export const captionsKey = (channelId: string, segment: LiveSegment): string =>
  captionsName(channelId, segmentName(segment));

/** The captions of a segment; undefined for one without. */
export async function readCaptions(
  { objects }: { objects: Objects },
  key: string,
  bucket: typeof LIVE_BUCKET | 'foyer-recordings' = LIVE_BUCKET,
): Promise<SegmentCaptions | undefined> {
  try {
    const bytes = await firstBytes(await objects.get(bucket, key), MOST_CAPTION_BYTES);
    return JSON.parse(bytes.toString('utf8')) as SegmentCaptions;
  } catch (error) {
    if (error instanceof ObjectMissing) return undefined;
    throw error;
  }
}
