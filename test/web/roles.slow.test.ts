import { walksAs } from './support/roles-suite.ts';

walksAs('a child', 'a member outside viewing hours');
