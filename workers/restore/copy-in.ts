import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from } from 'pg-copy-streams';

/** Rows of one `copy … from stdin`; all of them or none. Rejects with the error of the stream. */
export async function copyIn(client: pg.Client, text: string, bytes: Readable): Promise<number> {
  const copy = client.query(from(text));
  await pipeline(bytes, copy);
  return copy.rowCount ?? 0;
}
