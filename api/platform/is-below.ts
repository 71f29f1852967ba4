import { isAbsolute, relative, sep } from 'node:path';

/** Compares whole segments: `/films2` is not below `/films`. */
export function isBelow(top: string, path: string): boolean {
  const way = relative(top, path);
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`));
}
