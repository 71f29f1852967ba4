import { SIGNS } from './hostile.ts';
import { hostileSuite } from './hostile-suite.ts';

describe('every operation under all hostile requests', () => {
  hostileSuite({ signs: SIGNS, headers: 30 });
});
