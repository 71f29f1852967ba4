// The captions of a recording: those of its parts, as tracks of SubRip on the clock of the joined file.
import { readCaptions, type SegmentCaptions } from '#platform/live/captions.ts';
import { PARTS_BUCKET, partCaptionsKey } from '#platform/live/parts.ts';
import type { LiveSegment } from '#platform/live/segments.ts';
import type { Objects } from '#platform/objects.ts';
import { ahead } from './ahead.ts';
import { type CaptionFile, CaptionFiles } from './caption-files.ts';

/** Captions of parts that are read at once. */
const CAPTIONS_AHEAD = 8;

/** Arguments of ffmpeg: inputs after the first one, and what becomes of them. */
export interface CaptionArguments {
  inputs: string[];
  outputs: string[];
}

interface Captioned {
  recordingId: string;
  parts: readonly LiveSegment[];
  folder: string;
}

/** Writes the captions of a recording into a folder, and returns how ffmpeg adds them. */
export async function captionArguments(
  { objects }: { objects: Objects },
  captioned: Captioned,
): Promise<CaptionArguments> {
  const files = await captionFiles(objects, captioned);
  return {
    inputs: files.flatMap(({ path }) => ['-protocol_whitelist', 'file', '-f', 'srt', '-i', path]),
    outputs: files.flatMap(({ service }, at) => [
      ...['-map', `${at + 1}:0`, `-metadata:s:s:${at}`, `language=${service.language}`],
      ...[`-disposition:s:${at}`, service.hearingImpaired ? 'hearing_impaired' : '0'],
    ]),
  };
}

async function captionFiles(objects: Objects, { recordingId, parts, folder }: Captioned): Promise<CaptionFile[]> {
  const files = new CaptionFiles(folder);
  const load = (part: LiveSegment): Promise<SegmentCaptions | undefined> =>
    readCaptions({ objects }, partCaptionsKey(recordingId, part), PARTS_BUCKET);
  try {
    for await (const [part, captions] of ahead(parts, load, CAPTIONS_AHEAD)) {
      if (files.full) break;
      await files.add(part, captions);
    }
    return await files.end();
  } finally {
    await files.close();
  }
}
