import type { Head } from './manifest.ts';
import { blockLines, packRow, type Ranges } from './pack.ts';
import { keyOf, type Row, rowKey, type Work } from './work.ts';

/** Every row of a pack. */
export async function* packRows(read: Ranges, head: Head): AsyncGenerator<Row> {
  for (const number of head.manifest.blocks.keys())
    for (const line of await blockLines(read, head, number)) yield packRow(line);
}

/** The rows of a delta from one sorted list of works to another: new and changed works, and the keys of withdrawn ones. */
export async function* deltaOf(before: AsyncIterator<Row>, after: AsyncIterable<Work>): AsyncGenerator<Row> {
  let old = await before.next();
  for await (const work of after) {
    const key = keyOf(work);
    while (!old.done && rowKey(old.value) < key) {
      yield { gone: rowKey(old.value) };
      old = await before.next();
    }
    const same = !old.done && rowKey(old.value) === key ? old.value : undefined;
    if (same) old = await before.next();
    if (!same || JSON.stringify(same) !== JSON.stringify(work)) yield work;
  }
  for (; !old.done; old = await before.next()) yield { gone: rowKey(old.value) };
}
