/** Search for workers. */
export { type PlainCue, plainText, stretchesOf } from './transcripts/stretches.ts';
export {
  type DueFile,
  findTracks,
  isAnyDue,
  keepTracks,
  nextDueFile,
  noteLibrary,
  putOffDue,
  putTrack,
  settleDue,
} from './transcripts/transcripts.store.ts';
export { beginIndex, endIndex, optimise, staleIndexes, writeNext } from './upkeep.store.ts';
