export { requestScan, type ScanRequest } from './request-scan.ts';
export { cancelScansOf, cancelScansOfLibrary, withdrawQuestions } from './scans.store.ts';
