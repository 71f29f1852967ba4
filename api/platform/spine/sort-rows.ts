// Sorts more rows than fit into memory, by sorted files that are merged.
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { keyOf, readRow, type Work } from './work.ts';

const ROWS_IN_MEMORY = 100_000;

interface Keyed {
  key: string;
  work: Work;
}

/** Works by key. Of two with one key the later one counts. Throws `BadRow`, and an error with the number of the line. */
export async function* sortRows(
  lines: AsyncIterable<string>,
  { folder, most = ROWS_IN_MEMORY }: { folder: string; most?: number },
): AsyncGenerator<Work> {
  const scratch = await mkdtemp(join(folder, 'foyer-spine-'));
  try {
    const files: string[] = [];
    let held = new Map<string, string>();
    const spill = async (): Promise<void> => {
      const file = join(scratch, String(files.length));
      const sorted = [...held].sort(([a], [b]) => (a < b ? -1 : 1));
      await writeFile(file, sorted.map(([, line]) => `${line}\n`).join(''));
      files.push(file);
      held = new Map();
    };
    for await (const line of lines) {
      if (line.trim() === '') continue;
      const work = readRow(line);
      if ('gone' in work) throw new Error('only a delta withdraws works, and it is built with --since');
      held.set(keyOf(work), JSON.stringify(work));
      if (held.size >= most) await spill();
    }
    await spill();
    yield* merged(files.map(rowsIn));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function* rowsIn(file: string): AsyncGenerator<Keyed> {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const work = JSON.parse(line) as Work;
    yield { key: keyOf(work), work };
  }
}

async function* merged(files: readonly AsyncGenerator<Keyed>[]): AsyncGenerator<Work> {
  const heads = await Promise.all(files.map(async (file) => (await file.next()).value as Keyed | undefined));
  for (;;) {
    let least: Keyed | undefined;
    // later files come last, so that theirs is kept of equal keys
    for (const head of heads) if (head && (!least || head.key <= least.key)) least = head;
    if (!least) return;
    yield least.work;
    for (const [at, file] of files.entries())
      if (heads[at]?.key === least.key) heads[at] = (await file.next()).value as Keyed | undefined;
  }
}
