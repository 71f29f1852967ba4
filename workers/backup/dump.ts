import { to as copyTo } from 'pg-copy-streams';
import { dumpedTables, keptOut } from '#platform/backup/tables.ts';
import type { BackupManifest, BackupPart, BackupTable } from '#platform/backup-manifest.ts';
import { type Run, reach } from './run.ts';
import { writePart } from './write-part.ts';

/** Uncompressed bytes of a part, which ends with the row that reaches this size. */
const PART_BYTES = 32 * 2 ** 20;
const LINE_END = 0x0a;

export type Dumped = Pick<BackupManifest, 'snapshotAt' | 'schemaVersion' | 'tables' | 'sequences'>;

/** Copies every table from one snapshot; COPY's text has a line for each row. */
export async function dumpTables(run: Run): Promise<Dumped> {
  const { client } = run;
  await reach(run, 'snapshot', 0);
  await client.query('begin isolation level repeatable read read only');
  await client.query('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0');
  const snapshotAt = await first<Date>(run, 'select clock_timestamp() as value'); // the first query takes the snapshot
  const schemaVersion = await first<string>(
    run,
    'select name as value from knex_migrations order by name desc limit 1',
  );
  const tables = await dumpedTables(client);
  const sizes = await sizesOf(run);
  const total = tables.reduce((sum, { name }) => sum + (sizes.get(name) ?? 0), 0) || 1;
  const dumped: BackupTable[] = [];
  let done = 0;
  for (const table of tables) {
    await reach(run, 'dump', done / total);
    dumped.push(await dumpTable(run, table));
    done += sizes.get(table.name) ?? 0;
  }
  const sequences = await sequencesOf(run);
  await client.query('commit');
  return { snapshotAt: snapshotAt.toISOString(), schemaVersion, tables: dumped, sequences };
}

async function first<T>({ client }: Run, sql: string): Promise<T> {
  const { rows } = await client.query<{ value: T }>(sql);
  if (!rows[0]) throw new Error('nothing answered');
  return rows[0].value;
}

async function sizesOf({ client }: Run): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; bytes: number }>(
    `select relname::text as name, pg_table_size(c.oid) as bytes from pg_class c
       join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'public' and c.relkind = 'r'`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

async function sequencesOf({ client }: Run): Promise<BackupManifest['sequences']> {
  const { rows } = await client.query<{ name: string; value: string }>(
    `select s.sequencename::text as name, s.last_value::text as value from pg_sequences s
      where s.schemaname = 'public' and s.last_value is not null
        and not exists (select from pg_depend d join pg_class t on t.oid = d.refobjid
          where d.objid = format('public.%I', s.sequencename)::regclass and t.relname = any($1))
      order by 1`,
    [Object.keys(keptOut)],
  );
  return rows;
}

async function dumpTable(run: Run, { name, columns }: { name: string; columns: string[] }): Promise<BackupTable> {
  const { client, signal } = run;
  const list = columns.map((column) => client.escapeIdentifier(column)).join(', ');
  const copy = client.query(copyTo(`copy public.${client.escapeIdentifier(name)} (${list}) to stdout`));
  const split = new Split(copy[Symbol.asyncIterator]() as AsyncIterator<Buffer>);
  const parts: BackupPart[] = [];
  while (await split.hasMore()) {
    signal.throwIfAborted();
    parts.push(await writePart(run, { table: name, number: parts.length, rows: split.next() }));
  }
  return { name, columns, rows: split.rows, parts };
}

/** Splits the stream of a COPY into pieces that end with a row. */
class Split {
  rows = 0;
  readonly #source: AsyncIterator<Buffer>;
  #held: Buffer | undefined;

  constructor(source: AsyncIterator<Buffer>) {
    this.#source = source;
  }

  async hasMore(): Promise<boolean> {
    while (!this.#held?.length) {
      const { value, done } = await this.#source.next();
      if (done) return false;
      this.#held = value;
    }
    return true;
  }

  async *next(): AsyncGenerator<Buffer> {
    let bytes = 0;
    while (await this.hasMore()) {
      const chunk = this.#held ?? Buffer.alloc(0);
      bytes += chunk.length;
      const end = bytes < PART_BYTES ? -1 : chunk.lastIndexOf(LINE_END);
      const piece = end < 0 ? chunk : chunk.subarray(0, end + 1);
      this.#held = chunk.subarray(piece.length);
      this.rows += linesIn(piece);
      yield piece;
      if (end >= 0) return;
    }
  }
}

function linesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) count += 1;
  return count;
}
