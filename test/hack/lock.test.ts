import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { LOCKS, type Lock, missingEntries } from '../../hack/lock.ts';

const read = (file: URL): Lock => JSON.parse(readFileSync(file, 'utf8')) as Lock;

describe('the lock files', () => {
  it('name the optional packages of every platform, so that `npm ci` takes them on each', () => {
    for (const file of LOCKS)
      expect(Object.keys(missingEntries(read(file))), `${file.pathname}: run \`node hack/lock.ts\``).to.deep.equal([]);
    expect(LOCKS.length).to.equal(2);
  });

  it('are found to lack one that is taken out', () => {
    for (const file of LOCKS) {
      const all = read(file).packages;
      const name = Object.keys(all).find((path) => path.endsWith('-linux-x64-musl')) ?? '';
      const { [name]: musl, ...packages } = all;
      const found = missingEntries({ packages });
      expect(Object.keys(found), file.pathname).to.deep.equal([name]);
      const { version, os, cpu, libc, optional } = found[name] ?? {};
      expect(musl).to.include({ version, optional }).and.to.deep.include({ os, cpu, libc });
    }
  });

  it('hold no address of a registry', () => {
    for (const file of LOCKS) expect(JSON.stringify(read(file))).to.not.include('"resolved"');
  });
});
