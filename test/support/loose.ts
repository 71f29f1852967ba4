import type { Knex } from 'knex';
import { connectDatabase, type Db } from '#platform/db.ts';

/** A database whose tables and columns the compiler does not check: tests look at rows as they lie there. */
export type LooseDb = { transaction<R>(work: (tx: LooseDb) => Promise<R>): Promise<R> } & Knex & Db;

export const connectLoosely = connectDatabase as (...of: Parameters<typeof connectDatabase>) => LooseDb;
