/** Facts from a video codec's own header. */
export interface VideoFacts {
  profile?: string;
  level?: number;
  width?: number;
  height?: number;
  bitDepth?: number;
  pixelFormat?: string;
  codecString?: string;
  interlaced?: boolean;
  /** Transfer characteristics of ISO 23091-2: 16 is PQ, 18 is HLG. */
  transfer?: number;
}

const CHROMA = ['gray', 'yuv420p', 'yuv422p', 'yuv444p'];

/** ffmpeg's name of a planar format: chroma 0 is none, 1 is 4:2:0, 2 is 4:2:2, 3 is 4:4:4. */
export function pixelFormat(chroma: number, bitDepth: number, full = false): string {
  const base = CHROMA[chroma] ?? 'yuv420p';
  if (bitDepth > 8) return `${base.replace(/^gray$/, 'gray')}${bitDepth}le`;
  return full && base.startsWith('yuv') ? base.replace('yuv', 'yuvj') : base;
}

export const hex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0');
