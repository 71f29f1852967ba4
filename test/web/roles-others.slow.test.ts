import { walksAs } from './support/roles-suite.ts';

walksAs(
  'owner',
  'admin',
  'member',
  'a guest',
  'a member within viewing hours',
  'a member with one library',
  'a second profile',
);
