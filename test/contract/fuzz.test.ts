// The parts of the description under Schemathesis.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { areas } from '#areas/index.ts';
import { groupsOf, LEFT_OUT } from './fuzz-suite.ts';

describe('the parts of the description under Schemathesis', () => {
  const files = readdirSync(import.meta.dirname).filter((file) => /^fuzz-\d+\.slow\.test\.ts$/.test(file));
  const partIn = (file: string): number =>
    Number(/^ {2}fuzzSuite\((\d+)\);$/m.exec(readFileSync(join(import.meta.dirname, file), 'utf8'))?.[1]);

  it('cover every operation that has an end once', () => {
    const covered = files.flatMap((file) => groupsOf(partIn(file)).flatMap(({ operations }) => operations));
    const all = areas.flatMap((area) => area.endpoints.map(({ operationId }) => operationId));
    const names = covered.map(({ operationId }) => operationId);
    expect([...names, ...LEFT_OUT].sort()).to.deep.equal(all.sort());
  });
});
