export { requestScan, type ScanRequest, triggerOf } from './request-scan.ts';
export { cancelScansOf, cancelScansOfLibrary, readAgain, withdrawQuestions } from './scans.store.ts';
