// What follows: when the next item is offered, which marker has a button, and whether anyone is still watching.
import type { PlaybackPreferences, PlaybackStart, SkipMode } from 'foyer-client';
import type { PlayerState } from '#core/player/state.ts';

const LAST_MS = 20_000;
const LAST_SHARE = 0.1;
const KEY = 'foyer.in-a-row';

/** From the credits on, else in the last 20 seconds; of short items in their last tenth. */
export function isNear({ positionMs, durationMs, start }: PlayerState): boolean {
  if (durationMs <= 0 || !start) return false;
  const credits = start.markers.find(({ kind }) => kind === 'credits');
  return positionMs >= (credits?.startMs ?? durationMs - Math.min(LAST_MS, durationMs * LAST_SHARE));
}

type Marker = PlaybackStart['markers'][number];

const modeOf = (kind: Marker['kind'], prefs: PlaybackPreferences): SkipMode => {
  const modes: Partial<Record<string, SkipMode>> = {
    intro: prefs.skipIntro,
    recap: prefs.skipRecap,
    credits: prefs.skipCredits,
    commercial: prefs.skipCommercials,
  };
  return modes[kind] ?? 'off';
};

/** The marker at the position that the preferences do not leave alone. */
export function markerAt(
  { start, positionMs }: PlayerState,
  prefs: PlaybackPreferences | undefined,
): (Marker & { mode: SkipMode }) | undefined {
  if (!prefs) return undefined;
  const found = start?.markers.find(({ startMs, endMs }) => startMs <= positionMs && positionMs < endMs - 1000);
  return found && { ...found, mode: modeOf(found.kind, prefs) };
}

/** Counts items that began by themselves in a row, so that the player needs an answer before it goes on for an empty room. */
export class Follow {
  readonly #home: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

  constructor(home: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>) {
    this.#home = home;
  }

  count(): void {
    this.#home.setItem(KEY, String(this.#counted() + 1));
  }

  /** Somebody is there. */
  reset(): void {
    this.#home.removeItem(KEY);
  }

  needsAnswer(prefs: PlaybackPreferences | undefined): boolean {
    const after = prefs?.askStillWatchingAfter ?? 0;
    return after > 0 && this.#counted() >= after;
  }

  #counted(): number {
    return Number(this.#home.getItem(KEY) ?? 0) || 0;
  }
}
