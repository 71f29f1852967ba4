import { checkStories } from './truth.ts';

describe('a scan, compared with the truth over many stories', function () {
  this.timeout(300_000);

  for (const type of ['movies', 'shows']) {
    const seed = Math.floor(Math.random() * 2 ** 31);
    it(`ends in the true state, for ${type} with seed ${seed}`, () => checkStories(type, { seed, forMs: 80_000 }));
  }
});
