import { fuzzSuite } from './fuzz-suite.ts';

describe('the description under Schemathesis, part 2', () => {
  fuzzSuite(2);
});
