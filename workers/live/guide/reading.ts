// Messages between the reading thread and its caller.
import type { GuideChannel } from './entries.ts';
import type { GuideFault } from './refused.ts';

export interface Reading {
  path: string;
  shiftMs: number;
  /** Programmes that end before or start after it are left out. */
  fromMs: number;
  toMs: number;
}

export interface Read {
  channels: GuideChannel[];
  programs: number;
  skipped: number;
  /** Start of the first programme of later days, which was left out. */
  nextStartMs: number | undefined;
}

export type Message = { lines: string } | { done: Read } | { refused: { code: GuideFault; message: string } };

/** Batches that the thread may be ahead. */
export const AHEAD = 8;
