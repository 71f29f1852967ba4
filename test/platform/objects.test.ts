import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { connectObjects, ObjectMissing, ObjectsUnavailable } from '#platform/objects.ts';
import { temporaryFolder } from '#support/stores.ts';
import { objectsSuite } from './objects.suite.ts';

describe('objects in a directory', () => {
  const folder = temporaryFolder('objects with a space');
  const url = `file://${encodeURI(folder)}`;
  objectsSuite(async () => connectObjects(url));

  it('distinguishes an unavailable store from a missing object', async () => {
    const unreachable = connectObjects('s3://key:secret@127.0.0.1:1/?tls=0');
    for (const work of [
      unreachable.stat('foyer-artwork', 'a'),
      unreachable.get('foyer-artwork', 'a'),
      unreachable.put('foyer-artwork', 'a', 'x'),
    ])
      expect(await work.catch((error: unknown) => error)).to.be.instanceOf(ObjectsUnavailable);
    const here = connectObjects(url);
    expect(await here.get('foyer-artwork', 'absent').catch((error: unknown) => error)).to.be.instanceOf(ObjectMissing);
  });

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
