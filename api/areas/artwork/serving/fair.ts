/** Work by at most some at once. Those who wait are served in turn by account, so that one with much holds up no other. */
export class FairSlots {
  readonly #places: number;
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(places: number) {
    this.#places = places;
  }

  async run<T>(account: string, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#places) this.#running += 1;
    else await this.#turn(account);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(account: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#waiting.get(account);
      if (line) line.push(resolve);
      else this.#waiting.set(account, [resolve]);
    });
  }

  /** Gives the place to the first of the account whose turn it is, and puts that account last. */
  #next(): void {
    const [turn] = this.#waiting;
    if (!turn) {
      this.#running -= 1;
      return;
    }
    const [account, line] = turn;
    const first = line.shift();
    this.#waiting.delete(account);
    if (line.length > 0) this.#waiting.set(account, line);
    first?.();
  }
}
