import { defineArea } from '#kernel/endpoint.ts';
import { getPlusStatus, listPlusFeatures, removePlusLicence, setPlusLicence } from './plus.endpoints.ts';

export const plusArea = defineArea('plus', 'Plus licence', [
  getPlusStatus,
  listPlusFeatures,
  setPlusLicence,
  removePlusLicence,
]);
