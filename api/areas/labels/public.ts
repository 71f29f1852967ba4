export { labelNumbers, setLabelsOfItem } from './item-labels.ts';
export { changeItems, copyLabels, forgetLabels, joinLabels, listedWith, relabel } from './label-items.store.ts';
