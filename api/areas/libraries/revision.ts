import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';

export function etagOf(row: { revision: number }): string {
  return `"${row.revision}"`;
}

/** With `If-Match`, another revision is 409 and nothing changes; without it the last writer wins. */
export function refuseStale({ headers }: Call, row: { revision: number }): void {
  const wanted = headers['if-match'];
  if (wanted === undefined || wanted === '*' || wanted === etagOf(row)) return;
  throw conflict('revision', 'It was changed meanwhile', { revision: row.revision });
}
