import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { PREPARED } from '#platform/buckets.ts';

/** Where names of buckets are not uses of them: a backup takes a bucket that is not there as empty. */
const LISTS = [
  'api/platform/buckets.ts',
  'api/platform/objects.ts',
  'workers/backup/objects.ts',
  'workers/restore/put-objects.ts',
];

describe('buckets', () => {
  it('that the product uses are made by the migration: a bucket of S3 does not come with its first object', () => {
    const used = new Set<string>();
    for (const file of globSync('{api,workers}/**/*.ts')) {
      if (LISTS.includes(file)) continue;
      for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/'(foyer-(?:[a-z]+-)?[a-z]+)'/g)) used.add(name);
    }
    const names = readFileSync('api/platform/buckets.ts', 'utf8').matchAll(/\| '(foyer-[a-z-]+)'/g);
    const buckets = [...names].map(([, name = '']) => name).filter((name) => used.has(name));
    expect(buckets).to.include('foyer-recordings').and.include('foyer-uploads');
    expect(buckets.filter((name) => !PREPARED.some((one) => one === name))).to.deep.equal([]);
  });
});
