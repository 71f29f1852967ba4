export { requestScan, type ScanRequest, triggerOf } from './request-scan.ts';
export { cancelScansOf, cancelScansOfLibrary, withdrawQuestions } from './scans.store.ts';
