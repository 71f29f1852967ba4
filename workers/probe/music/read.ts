import { parseFile } from 'music-metadata';
import type { MusicTags } from '#platform/media.ts';
import { present } from '#workers/present.ts';
import { tagsOf } from './tags.ts';

/** Facts about the sound, as music-metadata names them. */
export interface Sound {
  codec?: string;
  seconds?: number;
  sampleRate?: number;
  bitDepth?: number;
  channels?: number;
  bitrate?: number;
}

/** Codec of the picture inside a track. */
export type Cover = 'mjpeg' | 'png';

const coverOf = (mime: string | undefined): Cover | undefined =>
  mime === undefined ? undefined : /png/i.test(mime) ? 'png' : 'mjpeg';

/** Tags and sound of an audio file. Throws if music-metadata cannot read it. */
export async function readMusic(path: string): Promise<{ tags: MusicTags; sound: Sound; cover: Cover | undefined }> {
  const { common, format } = await parseFile(path, { duration: false });
  const sound: Sound = present({
    codec: format.codec,
    seconds: format.duration,
    sampleRate: format.sampleRate,
    bitDepth: format.bitsPerSample,
    channels: format.numberOfChannels,
    bitrate: format.bitrate,
  });
  return { tags: tagsOf(common), sound, cover: coverOf(common.picture?.[0]?.format) };
}
