import { pictureEvent, settleArtwork } from '#areas/artwork/public.ts';
import type { Db } from '#platform/db.ts';
import type { Work } from '../work.ts';

const MINUTE = 60_000;
const EVENTS_A_MINUTE = 100;

/** Settles items and emits their events, at most a hundred a minute: a whole library is read again by its list anyway. */
export class Settling {
  readonly #work: Work;
  #since = 0;
  #sent = 0;

  constructor(work: Work) {
    this.#work = work;
  }

  /** Returns how many items changed. */
  async settle(db: Db, ids: readonly string[]): Promise<number> {
    const changed = await settleArtwork(db, ids);
    for (const item of changed) if (this.#mayEmit()) await this.#work.emit(db, 'item.updated', pictureEvent(item));
    return changed.length;
  }

  #mayEmit(): boolean {
    const now = Date.now();
    if (now - this.#since > MINUTE) {
      this.#since = now;
      this.#sent = 0;
    }
    this.#sent += 1;
    return this.#sent <= EVENTS_A_MINUTE;
  }
}
