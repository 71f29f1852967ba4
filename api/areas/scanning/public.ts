export { requestScan, type ScanWish } from './request-scan.ts';
