// The partition of a pack: made next to the others, filled, indexed, and then attached in one transaction.

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from } from 'pg-copy-streams';
import { type Db, withConnection } from '../db.ts';
import { rowsOf } from '../rows.ts';

const COLUMNS = 'key, kind, ids, names, words, year, parent, place, doc';
const nameOf = (pack: number): string => `foyer_spine.works_${Math.trunc(pack)}`;
/** Every reader holds the table for one short statement. */
const SWITCH_WAIT = '10s';

/** The number of a pack that is about to be loaded. Tables of a database that a restore put aside keep theirs. */
export async function nextPackNumber(db: Db): Promise<number> {
  for (;;) {
    const [row] = await rowsOf<{ number: number; taken: boolean }>(
      db,
      `select n as number, to_regclass('foyer_spine.works_' || n) is not null as taken
         from (select nextval('spine_pack_numbers')::int as n) next`,
      [],
    );
    if (row && !row.taken) return row.number;
  }
}

/** An empty table for a pack; one that an ended attempt left is removed. */
export async function makePartition(db: Db, pack: number): Promise<void> {
  const name = nameOf(pack);
  await db.raw(`drop table if exists ${name}`);
  await db.raw(`create table ${name} (like spine_works)`);
  await db.raw(`alter table ${name} alter pack set default ${pack}, add check (pack = ${pack})`);
}

/** Appends rows in the text format of COPY, in the caller's transaction. */
export async function copyWorks(db: Db, pack: number, lines: AsyncIterable<string>): Promise<number> {
  return withConnection(db, async (client) => {
    const copy = client.query(from(`copy ${nameOf(pack)} (${COLUMNS}) from stdin`));
    await pipeline(Readable.from(lines, { objectMode: false, highWaterMark: 1 << 18 }), copy);
    return copy.rowCount ?? 0;
  });
}

/** Adds the works of another pack, except those with one of its rows here and those that were withdrawn. */
export async function copyFrom(db: Db, pack: number, base: { pack: number; gone: readonly string[] }): Promise<void> {
  const [own, other] = [nameOf(pack), nameOf(base.pack)];
  await db.raw('set local statement_timeout = 0');
  await db.raw(`analyze ${own}`);
  await db.raw(
    `insert into ${own} (${COLUMNS}) select ${COLUMNS} from ${other} o
      where not exists (select from ${own} n where n.key = o.key) and o.key <> all(?::text[])`,
    [[...base.gone]],
  );
}

/** Rows by kind. */
export async function countWorks(db: Db, pack: number): Promise<Record<string, number>> {
  await db.raw('set local statement_timeout = 0');
  const rows = await rowsOf<{ kind: string; count: number }>(
    db,
    `select kind, count(*)::int as count from ${nameOf(pack)} group by kind`,
    [],
  );
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
}

/** The indexes in the order in which they are made. */
export const indexes = ['ids', 'names', 'words', 'parent'] as const;
const INDEX_SQL: Record<(typeof indexes)[number], string> = {
  ids: 'using gin (ids) with (fastupdate = off)',
  names: 'using gin (names) with (fastupdate = off)',
  words: 'using gin (words gin_trgm_ops) with (fastupdate = off)',
  parent: '(parent, place) where parent is not null',
};

export async function indexPartition(db: Db, pack: number, index: (typeof indexes)[number]): Promise<void> {
  await db.raw('set local statement_timeout = 0');
  await db.raw(`set local maintenance_work_mem = '256MB'`);
  await db.raw(`create index if not exists works_${Math.trunc(pack)}_${index} on ${nameOf(pack)} ${INDEX_SQL[index]}`);
  if (index === indexes.at(-1)) await db.raw(`analyze ${nameOf(pack)}`);
}

/** In the caller's transaction: lookups read the works of `add` from its commit on, and those of `drop` no more. */
export async function switchPartitions(db: Db, { add, drop }: { add?: number; drop?: number }): Promise<void> {
  await db.raw(`set local lock_timeout = '${SWITCH_WAIT}'`);
  if (drop !== undefined) await db.raw(`drop table if exists ${nameOf(drop)}`);
  if (add !== undefined) await db.raw(`alter table spine_works attach partition ${nameOf(add)} for values in (${add})`);
}

/** Removes tables of loads that will not go on; `kept` is the one that does. */
export async function dropStray(db: Db, kept: number | undefined): Promise<void> {
  const rows = await rowsOf<{ name: string }>(
    db,
    `select relname::text as name from pg_class c where relnamespace = 'foyer_spine'::regnamespace and relkind = 'r'
       and not relispartition`,
    [],
  );
  for (const { name } of rows)
    if (kept === undefined || name !== `works_${kept}`) await db.raw('drop table if exists foyer_spine.??', [name]);
}

/** Bytes of all packs with their indexes. */
export async function bytesOfWorks(db: Db): Promise<number> {
  const [row] = await rowsOf<{ bytes: number }>(
    db,
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes from pg_class c
      where c.relnamespace = 'foyer_spine'::regnamespace and c.relkind = 'r'`,
    [],
  );
  return row?.bytes ?? 0;
}
