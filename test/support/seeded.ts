// Numbers that are the same for the same seed, and broken bytes made of them.

/** A number below the given one. */
export type Next = (below: number) => number;

export function seeded(number: number): Next {
  let seed = Math.imul(number + 1, 2_654_435_761) >>> 0;
  return (below) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}

export const pick = <T>(next: Next, list: readonly T[]): T => list[next(list.length)] as T;

export function noise(next: Next, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) bytes[at] = next(256);
  return bytes;
}

/** Some bits of a file are turned, as zzuf does it, and its end may be missing. */
export function mutated(bytes: Buffer, next: Next): Buffer {
  const broken = Buffer.from(bytes).subarray(0, next(3) === 0 ? 1 + next(bytes.length) : bytes.length);
  const turns = Math.ceil(broken.length / pick(next, [10, 50, 500]));
  for (let n = 0; n < Math.min(turns, 20_000); n += 1) {
    const at = next(broken.length);
    broken[at] = (broken[at] ?? 0) ^ (1 << next(8));
  }
  return broken;
}
