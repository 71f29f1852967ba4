import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { Looks } from '#areas/storage/public.ts';

describe('Looks', () => {
  it('sends few calls to a place that hangs, none after the first is late, and one again once it answers', async () => {
    const looks = new Looks(20);
    const { promise, resolve } = Promise.withResolvers<string>();
    let calls = 0;
    const look = () => {
      calls += 1;
      return calls <= 4 ? promise : Promise.resolve('there');
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => looks.run('a', look)));
    expect(new Set(answers)).to.deep.equal(new Set(['slow']));
    expect(await looks.run('a', look)).to.equal('slow');
    expect(calls).to.equal(4);
    expect(await looks.run('b', () => Promise.resolve('there'))).to.equal('there');
    resolve('late');
    await setImmediate();
    expect(await looks.run('a', look)).to.equal('there');
    expect(calls).to.equal(5);
  });
});
