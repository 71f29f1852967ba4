import { defineArea } from '#kernel/endpoint.ts';
import { setLabelAccess } from './access.endpoints.ts';
import { setLabelItems } from './items.endpoints.ts';
import { createLabel, deleteLabel, listLabels, updateLabel } from './labels.endpoints.ts';

export const labelsArea = defineArea('labels', 'Labels', [
  listLabels,
  createLabel,
  updateLabel,
  deleteLabel,
  setLabelAccess,
  setLabelItems,
]);
