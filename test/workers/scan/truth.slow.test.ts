import { checkStories } from './truth.ts';

describe('a scan of what is true, told many stories', function () {
  this.timeout(300_000);

  for (const type of ['movies', 'shows']) {
    const seed = Math.floor(Math.random() * 2 ** 31);
    it(`ends in what is true, for ${type} with seed ${seed}`, () => checkStories(type, { seed, forMs: 80_000 }));
  }
});
