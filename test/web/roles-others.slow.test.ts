import { walksAs } from './support/roles-suite.ts';

walksAs('owner', 'admin', 'a member within viewing hours', 'a member with one library', 'a second profile');
