/** `Range` of HTTP (RFC 9110, section 14): what is asked of a thing of `size` bytes. */
export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

const MOST_RANGES = 8;

/**
 * The ranges asked for; `whole` when there is no range, it is not understood, or asks for too many pieces;
 * `unsatisfiable` when none of them lies inside.
 */
export function parseRange(header: string | undefined, size: number): ByteRange[] | 'whole' | 'unsatisfiable' {
  const list = /^bytes=(.+)$/i.exec(header?.trim() ?? '')?.[1]?.split(',') ?? [];
  const parsed = list.map((text) => oneRange(text.trim(), size));
  if (list.length === 0 || list.length > MOST_RANGES || parsed.includes('wrong')) return 'whole';
  const ranges = parsed.filter((range) => typeof range === 'object');
  return ranges.length > 0 ? ranges : 'unsatisfiable';
}

/** `undefined` lies beyond the end. */
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
