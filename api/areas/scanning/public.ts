export { requestScan, type ScanWish } from './request-scan.ts';
export { cancelScansOf } from './scans.store.ts';
