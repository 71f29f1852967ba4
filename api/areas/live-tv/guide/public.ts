/** The guide for the rest of Live TV, for other areas and for the workers. */
export { comingPrograms } from './coming.view.ts';
export { type FoundProgram, getProgram } from './guide.ts';
export { MIN_SCORE, matchSource, matchUnmapped } from './mappings/match-guide.ts';
export { type ProgramContext, programFields } from './program-fields.ts';
export { LiveProgram } from './programs.schemas.ts';
export {
  findInWindow,
  findNowAndNext,
  findOtherAirings,
  findProgramRow,
  findShown,
  onlyInWindow,
  type ProgramRow,
  type ShownOn,
  selectPrograms,
} from './programs.store.ts';
export { isRestricted, nowAndNext, type OnAir, toProgram } from './programs.view.ts';
export { copyIncoming, lockGuides, mergeIncoming, putGuideChannels } from './refresh.store.ts';
export { type DueReminder, takeDueReminders } from './reminders.store.ts';
export { GuidePlace, openPlace, TRY_MS, type Tried as GuideTried } from './sources/orders.ts';
export { guidePlaceOf, nextRefresh, uploadedBytes } from './sources/source-rules.ts';
export {
  findSourceRow as findGuideSource,
  readsAlike,
  type SourceRow as GuideSourceRow,
} from './sources/sources.store.ts';
export {
  coverageOf,
  findDueSources,
  findState,
  putState,
  type StateRow as GuideState,
} from './sources/states.store.ts';
export { deleteOldPrograms, deleteUnlisted, deleteUnusedTitles, findUnlisted } from './trim.store.ts';
