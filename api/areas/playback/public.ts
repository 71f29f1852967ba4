export { purgeStatesOfAccount, purgeStatesOfProfile, restoreStates } from './progress/purge.store.ts';
