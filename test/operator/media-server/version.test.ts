import { expect } from 'chai';
import { running } from './specs.ts';

describe('the version in a status', () => {
  it('stays the last known one, while the server is unreachable or too slow to check the key', async () => {
    const here = await running();
    expect(here.status.version).to.equal('1.0.0');
    here.answers.version = '1.0';
    here.later(30_000);
    await here.pass();
    expect(here.status.version).to.equal('1.0.0');
    here.answers.reachable = false;
    here.later(30_000);
    await here.pass();
    expect(here.condition('Ready')).to.equal('False ApiUnreachable');
    expect(here.status.version).to.equal('1.0.0');
    Object.assign(here.answers, { reachable: true, version: '1.1.0' });
    here.later(30_000);
    await here.pass();
    expect(here.status.version).to.equal('1.1.0');
  });
});
