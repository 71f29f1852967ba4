import { fuzzSuite } from './fuzz-suite.ts';

describe('the description under Schemathesis, part 1', () => {
  fuzzSuite(1);
});
