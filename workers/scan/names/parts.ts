/** `cd|dvd|disc|disk|part|pt` with 1-8 or a-d at the end of a name. */
const PART = /^(.*?\S)[\s._-]+\(?(cd|dvd|disc|disk|part|pt)[\s._-]*([1-8]|[a-d])\)?$/i;

export interface Part {
  /** The name without the part. */
  stem: string;
  number: number;
}

/** The part that a name without extension tells, if any. */
export function partOf(stem: string): Part | undefined {
  const match = stem.length <= 300 ? PART.exec(stem) : null;
  if (!match) return undefined;
  const mark = (match[3] ?? '').toLowerCase();
  const number = /\d/.test(mark) ? Number(mark) : mark.charCodeAt(0) - 96;
  return { stem: match[1] ?? '', number };
}
