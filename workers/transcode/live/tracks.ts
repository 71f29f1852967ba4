// What a rendition reads and writes: the segments of a channel, or the parts of a recording.
import type { Db } from '#platform/db.ts';
import { listParts, PARTS_BUCKET, partKey, partsTrack } from '#platform/live/parts.ts';
import { findRecorded } from '#platform/live/recorded.store.ts';
import { type RenditionRow, readRendition, renditionTrack } from '#platform/live/renditions.store.ts';
import { addSegment, LIVE_BUCKET, type LiveSegment, listSegments, segmentKey } from '#platform/live/segments.ts';
import type { Objects } from '#platform/objects.ts';
import type { Redis } from '#platform/redis.ts';

interface Stores {
  db: Db;
  redis: Redis;
  objects: Objects;
}

export interface Tracks {
  /** Only the newest segments matter, because viewers are there. A recording is encoded from its beginning. */
  isLive: boolean;
  /** Pause between two looks for segments. */
  everyMs: number;
  source(): Promise<LiveSegment[]>;
  made(): Promise<LiveSegment[]>;
  read(segment: LiveSegment): Promise<Buffer>;
  write(segment: LiveSegment, bytes: Buffer): Promise<void>;
  /** No other segment will come. */
  isOver(): Promise<boolean>;
}

export function tracksOf(stores: Stores, { channel_id: channelId, rendition }: RenditionRow): Tracks {
  const { rung, recordingId } = readRendition(rendition);
  return recordingId === undefined ? ofChannel(stores, channelId, rung) : ofRecording(stores, recordingId, rung);
}

function ofChannel(stores: Stores, channelId: string, rung: string): Tracks {
  const track = renditionTrack(channelId, rung);
  return {
    isLive: true,
    everyMs: 300,
    source: async () => listSegments(stores, channelId),
    made: async () => listSegments(stores, track),
    read: async (segment) => bytesOf(await stores.objects.get(LIVE_BUCKET, segmentKey(channelId, segment))),
    write: async (segment, bytes) => {
      await stores.objects.put(LIVE_BUCKET, segmentKey(track, segment), bytes);
      await addSegment(stores, track, segment);
    },
    isOver: async () => false,
  };
}

function ofRecording({ db, objects }: Stores, recordingId: string, rung: string): Tracks {
  const track = partsTrack(recordingId, rung);
  return {
    isLive: false,
    everyMs: 2000, // as often as the recorder copies
    source: async () => listParts({ objects }, recordingId),
    made: async () => listParts({ objects }, track),
    read: async (part) => bytesOf(await objects.get(PARTS_BUCKET, partKey(recordingId, part))),
    write: async (part, bytes) => {
      await objects.put(PARTS_BUCKET, partKey(track, part), bytes);
    },
    isOver: async () => (await findRecorded(db, recordingId))?.isOver ?? true,
  };
}

const bytesOf = async (stream: { toArray(): Promise<Buffer[]> }): Promise<Buffer> =>
  Buffer.concat(await stream.toArray());
