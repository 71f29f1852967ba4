import { fuzzSuite } from './fuzz-suite.ts';

describe('the description under Schemathesis, part 3', () => {
  fuzzSuite(3);
});
