import { defineArea } from '#kernel/endpoint.ts';
import { cancelScan, decideScanRemovals, getScan, listScans, startScan } from './scans.endpoints.ts';

export const scanningArea = defineArea('scanning', 'Scanning', [
  startScan,
  listScans,
  getScan,
  cancelScan,
  decideScanRemovals,
]);
