import { hostileSuite } from './hostile-suite.ts';

describe('every operation under hostile requests', () => {
  hostileSuite({ signs: ['{', '\t', ','], headers: 3 });
});
