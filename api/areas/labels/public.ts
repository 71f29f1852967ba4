export { labelNumbers, setLabelsOfItem } from './item-labels.ts';
export { changeItems, copyLabels, forgetLabels, listedWith, relabel } from './label-items.store.ts';
