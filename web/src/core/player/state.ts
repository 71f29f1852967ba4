// All that the page shows of the player, as one value that is replaced at each change.
import type { PlaybackSession, PlaybackStart } from '../../../../api/client/index.ts';
import type { Problem } from '../api/errors.ts';
import type { Phase } from './machine.ts';

/** Why playing waits although the person wants it to go on. */
export type Trouble =
  | { kind: 'reconnecting' }
  | { kind: 'storage' }
  /** Every encoder is in use; until this time of Date.now(). */
  | { kind: 'slot'; until: number; problem: Problem }
  | { kind: 'streams'; problem: Problem; sessions: readonly PlaybackSession[] };

/** Something that happened without the person: shown for a few seconds. */
export type Notice =
  | { kind: 'skipped' }
  | { kind: 'lowered' }
  /** By a slow line. */
  | { kind: 'loweredSlow' }
  /** The line is slow, and the person chose the quality. */
  | { kind: 'slowLine' }
  | { kind: 'message'; text: string }
  | { kind: 'elsewhere' }
  | { kind: 'problem'; problem: Problem };

export interface PlayerState {
  phase: Phase;
  start?: PlaybackStart;
  /** Clips to play before the film; absent once they are over. */
  clips?: PlaybackStart['preroll'];
  /** The person wants to see it move. */
  wanted: boolean;
  positionMs: number;
  durationMs: number;
  bufferedMs: number;
  rate: number;
  volume: number;
  muted: boolean;
  /** Where seeking goes while keys gather. */
  targetMs?: number;
  subtitleId: string | null;
  trouble?: Trouble;
  notice?: Notice;
  problem?: Problem;
  /** The server ended the session. */
  stopReason?: NonNullable<PlaybackSession['stopReason']>;
  /** A slow line lowers the quality. Absent until something plays. */
  isAuto?: boolean;
  /** A canvas holds the last picture. */
  held: boolean;
}

export type Patch = { [K in keyof PlayerState]?: PlayerState[K] | undefined };

export const initialState: PlayerState = {
  phase: 'idle',
  wanted: true,
  positionMs: 0,
  durationMs: 0,
  bufferedMs: 0,
  rate: 1,
  volume: 1,
  muted: false,
  subtitleId: null,
  held: false,
};

export class Store {
  #state = initialState;
  readonly #changed: (state: PlayerState) => void;

  constructor(changed: (state: PlayerState) => void) {
    this.#changed = changed;
  }

  get state(): PlayerState {
    return this.#state;
  }

  /** A field of the patch that is undefined leaves the state. */
  patch(patch: Patch): void {
    const entries = Object.entries({ ...this.#state, ...patch }).filter(([, value]) => value !== undefined);
    this.#state = Object.fromEntries(entries) as unknown as PlayerState;
    this.#changed(this.#state);
  }
}
