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
    const here = await running({ ...managed, declared: [{ configMapRef: { name: 'ours' } }] });
    const data = { 'icons-retro.zip': '{}' };
    here.kube.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ours', namespace: 'media' }, data });
    await here.settle();
    expect(here.condition('DeclaredReady')).to.equal('False NotServed');
    expect((await running()).condition('PluginsReady')).to.equal('False NoneAsked');
  });
});
