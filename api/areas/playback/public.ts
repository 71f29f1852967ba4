export { joinStates } from './progress/join.store.ts';
export { purgeStatesOfAccount, purgeStatesOfProfile, restoreStates } from './progress/purge.store.ts';
export { emitState } from './progress/state-event.ts';
