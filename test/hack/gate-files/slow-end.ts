import { atEndOfRun } from '#support/stores.ts';

describe('a file that leaves behind a process that cannot be ended', () => {
  it('passes', () => atEndOfRun(() => new Promise(() => setInterval(() => undefined, 1000))));
});
