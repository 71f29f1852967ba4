// A source of the media element: a file that the browser reads itself, or an HLS stream.
import type { Sign } from './recovery.ts';

export interface Source {
  /** Loads from here on; called again after a fault. */
  load(positionMs: number): void;
  /** Resets the decoder without loading again. */
  recoverMedia(): void;
  /** Bits a second of the last transfers, where it is known. */
  bandwidthBps(): number | undefined;
  destroy(): void;
}

export interface SourceOptions {
  video: HTMLVideoElement;
  url: string;
  positionMs: number;
  fault(sign: Sign): void;
  /** Requests fail, and the source repeats them by itself. */
  shaky(): void;
}

export const isHls = (url: string): boolean => url.includes('.m3u8');
