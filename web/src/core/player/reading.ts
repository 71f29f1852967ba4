// What a report says of the player.
import type { PlayerState } from './state.ts';

/** The player at one moment. */
export interface Reading {
  state: 'playing' | 'paused' | 'buffering';
  positionMs: number;
  rate: number;
  bufferedMs: number;
  droppedFrames: number;
  bandwidthBps?: number;
  subtitleStreamId: string | null;
}

interface Source {
  positionMs: number;
  bandwidthBps: number | undefined;
}

/** The part of a media element that a reading needs; old browsers count no frames. */
interface Drawn {
  getVideoPlaybackQuality?(): { droppedVideoFrames: number };
}

const STATES: Partial<Record<PlayerState['phase'], Reading['state']>> = {
  playing: 'playing',
  paused: 'paused',
  ended: 'paused',
  buffering: 'buffering',
  loading: 'buffering',
};

/** Undefined in phases in which nothing is being watched. */
export function readingOf(
  { phase, rate, bufferedMs, subtitleId }: PlayerState,
  video: Drawn,
  { positionMs, bandwidthBps }: Source,
): Reading | undefined {
  const state = STATES[phase];
  return (
    state && {
      state,
      positionMs: Math.round(positionMs),
      rate,
      bufferedMs: Math.max(0, Math.round(bufferedMs)),
      droppedFrames: video.getVideoPlaybackQuality?.().droppedVideoFrames ?? 0,
      subtitleStreamId: subtitleId,
      ...(bandwidthBps !== undefined && { bandwidthBps }),
    }
  );
}
