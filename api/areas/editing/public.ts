/** Editing for other areas and workers. */

export { dropChange, findChange, sliceOf } from './bulk/bulk.store.ts';
export { changeSome } from './bulk/step.ts';
export {
  type ChosenPicture,
  type Due,
  endRefresh,
  endRefreshes,
  findMatch,
  findMatches,
  identifyingTypes,
  type MatchRow,
  makeChildrenDue,
  makeDue,
  makeStaleDue,
  nextRefresh,
  type Outcome,
  type RefreshOptions,
  takeDue,
  withChildren,
} from './match/matches.store.ts';
