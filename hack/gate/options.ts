import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type Asked, WrongUse } from './files.ts';

export interface Options extends Asked {
  lanes: number;
  keepSeconds: boolean;
}

const OPTIONS = {
  full: { type: 'boolean', default: false },
  without: { type: 'string' },
  changed: { type: 'string' },
  /** A third of the time of a test file is waiting. */
  lanes: { type: 'string', default: String(availableParallelism() + 1) },
  'keep-seconds': { type: 'boolean', default: false },
} as const;

/** `--changed` without a commit means this one. */
const BASE = 'main';

function parsed(
  words: readonly string[],
): ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>> {
  const bare = (word: string, next = '-'): boolean => word === '--changed' && next.startsWith('-');
  const args = words.map((word, index) => (bare(word, words[index + 1]) ? `--changed=${BASE}` : word));
  try {
    return parseArgs({ args, allowPositionals: true, options: OPTIONS });
  } catch (error) {
    throw new WrongUse((error as Error).message);
  }
}

export function optionsOf(words: readonly string[]): Options {
  const { values, positionals } = parsed(words);
  const [pattern, ...others] = positionals;
  if (others.length > 0) throw new WrongUse(`one pattern at most, and not ${others.join(' ')} too`);
  const lanes = Number(values.lanes);
  if (!Number.isInteger(lanes) || lanes < 1) throw new WrongUse(`--lanes takes a number, not ${values.lanes}`);
  return {
    full: values.full,
    lanes,
    keepSeconds: values['keep-seconds'],
    ...(pattern && { pattern }),
    ...(values.without && { without: values.without }),
    ...(values.changed && { changedSince: values.changed }),
  };
}
