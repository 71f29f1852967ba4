import { setTimeout as sleep } from 'node:timers/promises';

describe('a file that takes a while', () => {
  it('passes', () => sleep(500));
});
