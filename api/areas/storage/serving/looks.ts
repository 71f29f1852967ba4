import { inTime } from './roots.ts';

/**
 * Limits calls to file systems that may hang. While one call for a place is pending, the others wait for it; once it
 * exceeds the limit, they return `slow` without a call of their own, because each hanging call blocks a thread.
 */
export class Looks {
  readonly #limitMs: number | undefined;
  /** The pending call by place. */
  readonly #ahead = new Map<string, Promise<unknown>>();

  constructor(limitMs?: number) {
    this.#limitMs = limitMs;
  }

  /** `look` must not reject. */
  async run<T>(place: string, look: () => Promise<T>): Promise<T | 'slow'> {
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
