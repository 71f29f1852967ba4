export { keptKey } from '#areas/streaming/public.ts';
export { countUses, giveBackUse, spendUse } from './allowance/uses.store.ts';
export { announceSubtitles } from './announce.ts';
export { attachedNames } from './attached.ts';
export { addKept, findKept, type Keeping, type KeptText, putKeptText } from './kept/kept.store.ts';
export { removeKept } from './kept/remove.ts';
export { getSubtitleRow } from './sync/sync.ts';
export { type Correction, deleteSync, findRunningSync, putSync, syncKey } from './sync/syncs.store.ts';
export { requireTool, type SubtitleTool } from './tools.ts';
