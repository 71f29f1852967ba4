import { expect } from 'chai';
import { Looks } from '#areas/storage/public.ts';

describe('Looks', () => {
  it('sends no second call to a place that hangs, and sends one once it answers', async () => {
    const looks = new Looks(20);
    const { promise, resolve } = Promise.withResolvers<string>();
    let calls = 0;
    const look = () => {
      calls += 1;
      return calls === 1 ? promise : Promise.resolve('there');
    };
    const answers = await Promise.all([looks.run('a', look), looks.run('a', look), looks.run('a', look)]);
    expect(answers).to.deep.equal(['slow', 'slow', 'slow']);
    expect(await looks.run('a', look)).to.equal('slow');
    expect(calls).to.equal(1);
    expect(await looks.run('b', () => Promise.resolve('there'))).to.equal('there');
    resolve('late');
    await promise;
    expect(await looks.run('a', look)).to.equal('there');
    expect(calls).to.equal(2);
  });
});
