import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { connectObjects } from '#platform/objects.ts';
import { temporaryFolder } from '#support/stores.ts';
import { objectsSuite } from './objects.suite.ts';

describe('objects in a directory', () => {
  const folder = temporaryFolder('objects with a space');
  const url = `file://${encodeURI(folder)}`;
  objectsSuite(async () => connectObjects(url));

  it('leaves no draft behind', () => {
    expect(readdirSync(join(folder, '.drafts'))).to.deep.equal([]);
  });

  it('takes no key that leads out of its bucket', async () => {
    const objects = connectObjects(url);
    for (const key of ['../out', 'a/../../out', '/out', 'a//b', '.', '..', 'a/.', ''])
      expect(await objects.put('foyer-artwork', key, 'x').catch((e: unknown) => e), key).to.be.instanceOf(Error);
    expect(existsSync(join(folder, 'out'))).to.equal(false);
    expect(existsSync(join(folder, '..', 'out'))).to.equal(false);
  });
});
