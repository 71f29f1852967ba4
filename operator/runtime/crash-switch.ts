// A fault-injection switch for tests, and nothing else: with FOYER_CRASH_AFTER_WRITES=N the process ends itself by SIGKILL
// right after the Nth write to the API server was answered (the Lease and Events do not count). This is its only reader.
export class CrashSwitch {
  #left: number;

  constructor(text = process.env.FOYER_CRASH_AFTER_WRITES) {
    const writes = Number(text);
    this.#left = Number.isInteger(writes) && writes > 0 ? writes : Number.POSITIVE_INFINITY;
  }

  answered(): void {
    this.#left -= 1;
    if (this.#left === 0) process.kill(process.pid, 'SIGKILL');
  }
}
