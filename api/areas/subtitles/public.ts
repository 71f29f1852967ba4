export { countUses, giveBackUse, spendUse } from './allowance/uses.store.ts';
export { attachedNames } from './attached.ts';
export { addKept, findKept, type Keeping, type KeptText, keptKey, putKeptText } from './kept/kept.store.ts';
