import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type Lock, missingEntries } from '../../hack/lock.ts';

describe('package-lock.json', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;

  it('names the optional packages of every platform, so that `npm ci` takes it on each', () => {
    expect(Object.keys(missingEntries(lock)), 'run `node hack/lock.ts`').to.deep.equal([]);
  });

  it('is found to lack one that is taken out', () => {
    const { 'node_modules/@biomejs/cli-linux-x64-musl': musl, ...packages } = lock.packages;
    expect(missingEntries({ packages })).to.deep.equal({ 'node_modules/@biomejs/cli-linux-x64-musl': musl });
  });

  it('holds no address of a registry', () => {
    expect(JSON.stringify(lock)).to.not.include('"resolved"');
  });
});
