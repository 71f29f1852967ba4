/** Prints each line once, however often a pass produces it. */
export class LinesOnce {
  readonly #to: { say(line: string): void; warn(line: string): void };
  readonly #printed = new Set<string>();

  constructor(to: { say(line: string): void; warn(line: string): void }) {
    this.#to = to;
  }

  say(line: string): void {
    if (!this.#printed.has(line)) this.#to.say(line);
    this.#printed.add(line);
  }

  /** Problems, for people. */
  warn(line: string): void {
    if (!this.#printed.has(line)) this.#to.warn(line);
    this.#printed.add(line);
  }
}
