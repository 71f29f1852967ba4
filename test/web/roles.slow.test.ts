import { walksAs } from './support/roles-suite.ts';

walksAs('member', 'a child', 'a guest', 'a member outside viewing hours');
