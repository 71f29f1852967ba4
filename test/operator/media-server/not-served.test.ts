import { expect } from 'chai';
import { managed, running } from './specs.ts';

describe('fields of a MediaServer that this version does not serve', () => {
  it('is reported in a condition of its own, whichever field requests it', async () => {
    for (const plugins of [
      { trustedKeys: ['a'] },
      { allowed: [{ id: 'a', package: { url: 'https://x.example/a', sha256: 'a'.repeat(64) } }] },
      { install: [{ id: 'a', serviceUrl: 'http://a.example' }] },
    ])
      expect((await running({ ...managed, plugins })).condition('PluginsReady')).to.equal('False NotServed');
    expect((await running()).condition('PluginsReady')).to.equal('False NoneAsked');
  });
});
