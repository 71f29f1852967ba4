// Limits and format of disk space.
const GIB = 2 ** 30;

export interface DiskSpace {
  /** Bytes. */
  free: number;
  total: number;
}

/** Below 5 GiB, or 10 % of a small file system, a condition reports it. */
export const isLow = ({ free, total }: DiskSpace): boolean => free < Math.min(5 * GIB, total * 0.1);

/** The space that the server reserves for the database: 1 GiB, or 5 % of a small file system. */
export const reserveOf = (total: number): number => Math.min(GIB, total * 0.05);

export const gib = (bytes: number): string => (bytes / GIB).toFixed(1);
