import { inTime } from './roots.ts';

/**
 * Looks into places that may hang. While one look into a place has no answer, the others wait for it, and once it is too slow they get
 * `slow` without a call of their own: each call that hangs holds a thread of the process.
 */
export class Looks {
  readonly #limitMs: number | undefined;
  /** By place: the look that the others wait for, until it is answered. */
  readonly #ahead = new Map<string, Promise<unknown>>();

  constructor(limitMs?: number) {
    this.#limitMs = limitMs;
  }

  /** `look` never rejects. */
  async ask<T>(place: string, look: () => Promise<T>): Promise<T | 'slow'> {
    const ahead = this.#ahead.get(place);
    if (ahead && (await ahead) === 'slow') return 'slow';
    const answer = look();
    const found = inTime(answer, this.#limitMs);
    if (!this.#ahead.has(place)) {
      this.#ahead.set(place, found);
      void answer.then(() => this.#ahead.delete(place));
    }
    return found;
  }
}
