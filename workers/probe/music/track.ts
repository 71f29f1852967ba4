import { realpathSync } from 'node:fs';
import { isBelow } from '#platform/is-below.ts';
import { ProbeError } from '../fault.ts';
import type { Stretch } from '../probed.ts';
import { sampled } from '../sampled-hash.ts';
import { BlockFile } from './file-tokenizer.ts';
import { type MusicFile, readOpen } from './read.ts';

/** All that a scan reads of a track. */
export interface TrackFile {
  /** Its path without links. */
  real: string;
  /** Sampled hash in hex. */
  hash: string;
  zeros: Stretch[];
  music: MusicFile;
}

/**
 * Hash, tags and sound of an audio file by one opening, whose blocks serve both. Throws for any file that is unusual: one that leads
 * out of these folders, cannot be read or is no media.
 */
export async function readTrack(path: string, within: readonly string[]): Promise<TrackFile> {
  const real = realpathSync.native(path);
  if (!within.some((top) => isBelow(top, real))) throw new ProbeError('link-outside', 'leads out of the library');
  const file = new BlockFile(real);
  try {
    const { hash, zeros } = await sampled(async (at, length) => file.block(at, length), file.size);
    return { real, hash: hash.toString('hex'), zeros, music: await readOpen(file, real) };
  } finally {
    await file.close().catch(() => undefined); // its bytes were read
  }
}
