export { requestScan, type ScanWish } from './request-scan.ts';
export { cancelScansOf, withdrawQuestions } from './scans.store.ts';
