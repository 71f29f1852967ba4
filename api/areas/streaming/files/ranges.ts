/** A byte range of HTTP (RFC 9110, section 14). */
export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

const MOST_RANGES = 8;

/**
 * The requested ranges. `whole` for no range, a malformed header or too many ranges; `unsatisfiable` when all ranges
 * are beyond the end.
 */
export function parseRange(header: string | undefined, size: number): ByteRange[] | 'whole' | 'unsatisfiable' {
  const list = /^bytes=(.+)$/i.exec(header?.trim() ?? '')?.[1]?.split(',') ?? [];
  const parsed = list.map((text) => oneRange(text.trim(), size));
  if (list.length === 0 || list.length > MOST_RANGES || parsed.includes('wrong')) return 'whole';
  const ranges = parsed.filter((range) => typeof range === 'object');
  return ranges.length > 0 ? ranges : 'unsatisfiable';
}

/** Undefined for a range beyond the end. */
function oneRange(text: string, size: number): ByteRange | 'wrong' | undefined {
  const [, last] = /^-(\d+)$/.exec(text) ?? [];
  if (last !== undefined) return tail(Number(last), size);
  const [, from, to] = /^(\d+)-(\d*)$/.exec(text) ?? [];
  if (from === undefined) return 'wrong';
  const [start, end] = [Number(from), to ? Number(to) : Number.POSITIVE_INFINITY];
  if (end < start) return 'wrong';
  return start < size ? { start, end: Math.min(end, size - 1) } : undefined;
}

function tail(count: number, size: number): ByteRange | undefined {
  const last = Math.min(count, size);
  return last > 0 ? { start: size - last, end: size - 1 } : undefined;
}
