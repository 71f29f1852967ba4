// The reaction to a line that is too slow for the quality.
import type { Store } from './state.ts';
import { lowerQuality } from './tracks.ts';

/** Playing that stops twice within this time shows a slow line. */
const WINDOW_MS = 30_000;

interface LineHome {
  store: Store;
  quality(id: string): Promise<void>;
  now(): number;
}

export class Line {
  readonly #home: LineHome;
  #stopped: number | undefined;

  constructor(home: LineHome) {
    this.#home = home;
  }

  /** Playing stopped for want of bytes. With Auto the next lower quality follows, else the person learns of it. */
  async starved(): Promise<void> {
    const { store, quality } = this.#home;
    const { start, isAuto } = store.state;
    const lower = this.#isSlow() && start && lowerQuality(start.session.decision);
    if (!lower) return;
    store.patch({ notice: isAuto ? { kind: 'loweredSlow' } : { kind: 'slowLine' } });
    if (isAuto) await quality(lower.quality);
  }

  /** Counts a stop. The second one in the window begins the count again. */
  #isSlow(): boolean {
    const now = this.#home.now();
    const isSlow = this.#stopped !== undefined && now - this.#stopped <= WINDOW_MS;
    this.#stopped = isSlow ? undefined : now;
    return isSlow;
  }
}
