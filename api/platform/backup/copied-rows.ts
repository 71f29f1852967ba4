import type { Readable } from 'node:stream';

const LINE_MOST_BYTES = 64 * 2 ** 20; // our rows are far smaller
const ESCAPED: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** A field of COPY's text format; `\N` is null. */
const plain = (field: string): string | null =>
  field === '\\N' ? null : field.replace(/\\(.)/gs, (_, letter: string) => ESCAPED[letter] ?? letter);

/** Rows of COPY's text format with the given columns. Throws for a malformed row. */
export async function* copiedRows(
  bytes: Readable,
  columns: readonly string[],
): AsyncGenerator<Record<string, string | null>> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      yield rowOf(Buffer.concat([...held, chunk.subarray(from, end)]).toString('utf8'), columns);
      held = [];
      size = 0;
      from = end + 1;
    }
    size += chunk.length - from;
    if (size > LINE_MOST_BYTES) throw new Error('a row without an end');
    if (from < chunk.length) held.push(chunk.subarray(from));
  }
}

function rowOf(line: string, columns: readonly string[]): Record<string, string | null> {
  const fields = line.split('\t');
  if (fields.length !== columns.length) throw new Error('a row of other columns');
  return Object.fromEntries(columns.map((column, i) => [column, plain(fields[i] ?? '')]));
}
