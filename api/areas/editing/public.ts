export { dropChange, findChange, sliceOf } from './bulk/bulk.store.ts';
export { changeSome } from './bulk/step.ts';
