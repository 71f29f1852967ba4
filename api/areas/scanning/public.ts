export { requestScan, type ScanRequest } from './request-scan.ts';
export { cancelScansOf, withdrawQuestions } from './scans.store.ts';
