// A fault-injection switch for tests: with FOYER_CRASH_AFTER_WRITES=N the process kills itself with SIGKILL right after the
// response to the Nth write (the Lease and Events do not count). No other code reads this variable.
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
