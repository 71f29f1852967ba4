/** Reads tags in a thread, because a hostile file may take long or much memory: the main thread can end this one. */
import { parentPort } from 'node:worker_threads';
import { parseFile } from 'music-metadata';
import type { MusicTags } from '#platform/media.ts';
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

export type MusicAnswer = { tags: MusicTags; sound: Sound } | { failed: string };

parentPort?.on('message', (path: string) => {
  void answerFor(path).then((answer) => parentPort?.postMessage(answer));
});

async function answerFor(path: string): Promise<MusicAnswer> {
  try {
    const { common, format } = await parseFile(path, { skipCovers: true, duration: false });
    const sound = {
      codec: format.codec,
      seconds: format.duration,
      sampleRate: format.sampleRate,
      bitDepth: format.bitsPerSample,
      channels: format.numberOfChannels,
      bitrate: format.bitrate,
    };
    const known = Object.entries(sound).filter(([, value]) => value !== undefined && !Number.isNaN(value));
    return { tags: tagsOf(common), sound: Object.fromEntries(known) };
  } catch (error) {
    return { failed: error instanceof Error ? error.message.slice(0, 200) : 'unknown' };
  }
}
