import type { Knex } from 'knex';
import type { ColumnTypes } from './column-types.ts';
import type { Computed, Defaulted, Json, Tables } from './tables.ts';

export type TableName = keyof Tables;
export type Column<T extends TableName> = keyof Tables[T] & string;

type Bare<V> = V extends Defaulted<infer D> ? D : V extends Computed<infer C> ? C : V;
type Unwrapped<V> = V extends Json ? unknown : V;
/** The type of a value that is read: declared by its owner, otherwise from the schema. */
type Read<T extends TableName, C extends Column<T>> = `${T}.${C}` extends keyof ColumnTypes
  ? ColumnTypes[`${T}.${C}`] | Extract<Bare<Tables[T][C]>, null>
  : Unwrapped<Bare<Tables[T][C]>>;
/** The type of a value that is written. JSON is text; an array becomes a Postgres array, which `pg` may not change. */
type Writable<T extends TableName, C extends Column<T>> =
  Extract<Bare<Tables[T][C]>, Json> extends never
    ? Listed<Read<T, C>>
    : string | Extract<Bare<Tables[T][C]>, null> | object;
type Listed<V> = V extends readonly (infer M)[] ? readonly M[] : V;
type Omittable<T extends TableName> = {
  [C in Column<T>]: Tables[T][C] extends Defaulted<unknown> ? C : null extends Tables[T][C] ? C : never;
}[Column<T>];
type Fixed<T extends TableName> = {
  [C in Column<T>]: Tables[T][C] extends Computed<unknown> ? C : never;
}[Column<T>];

/** A row as it is read. */
export type Row<T extends TableName> = { [C in Column<T>]: Read<T, C> };

/** A value, or an expression that Postgres evaluates. */
type Given<V> = V | Knex.Raw | Subquery;

/** Any query, in place of a value or a list. */
type Subquery = Pick<Knex.QueryBuilder, 'toSQL' | 'toQuery'>;

/** A row to insert; an undefined column gets its default. */
export type Insert<T extends TableName> = {
  readonly [C in Exclude<Column<T>, Omittable<T> | Fixed<T>>]: Given<Writable<T, C>>;
} & { readonly [C in Exclude<Omittable<T>, Fixed<T>>]?: Given<Writable<T, C>> | undefined };

/** The columns to update; an undefined one stays as it is. */
export type Update<T extends TableName> = {
  readonly [C in Exclude<Column<T>, Fixed<T>>]?: Given<Writable<T, C>> | undefined;
};

/** Columns with their values. An undefined value would match every row, so it does not compile. */
export type Match<T extends TableName> = { readonly [C in Column<T>]?: Given<Read<T, C> | null> };

type Named<T extends TableName> = Column<T> | `${T}.${Column<T>}`;
type Selected<T extends TableName> = Named<T> | `${Named<T>} as ${string}` | '*' | `${T}.*` | Knex.Raw | Subquery;
type Operator = '=' | '<' | '<=' | '>' | '>=' | '<>' | '!=' | 'like' | 'ilike' | 'is' | 'in' | '@>' | '<@' | '&&';
/** The selected columns of a row, named with or without the table. */
type Picked<T extends TableName, N extends Named<T>> = { [K in N as Unqualified<K>]: Values<T>[K] };
type Unqualified<N> = N extends `${string}.${infer C}` ? C : N;
/**
 * Values by both names of a column. Only here does `Read` meet them, each a literal: for a name that is not known yet the compiler would
 * combine every column with every entry of ColumnTypes, at each comparison of two queries.
 */
type Values<T extends TableName> = {
  [N in Named<T>]: N extends `${T}.${infer C extends Column<T>}`
    ? Read<T, C>
    : N extends Column<T>
      ? Read<T, N>
      : never;
};
type ValueOf<T extends TableName, N extends Named<T>> = Values<T>[N];
type Group<T extends TableName> = (query: Query<T, unknown>) => unknown;

interface Where<T extends TableName, R> {
  (match: Match<T>): Query<T, R>;
  (raw: Knex.Raw): Query<T, R>;
  (group: Group<T>): Query<T, R>;
  <N extends Named<T>>(column: N, value: Given<ValueOf<T, N>>): Query<T, R>;
  <N extends Named<T>>(column: N, operator: Operator, value: Given<ValueOf<T, N>>): Query<T, R>;
}
type WhereIn<T extends TableName, R> = <N extends Named<T>>(
  column: N,
  values: Given<readonly ValueOf<T, N>[]>,
) => Query<T, R>;
type WhereNull<T extends TableName, R> = (column: Named<T>) => Query<T, R>;

interface Returning<T extends TableName> {
  (all: '*'): Query<T, Row<T>[]>;
  <N extends Named<T>>(columns: N | readonly N[]): Query<T, Picked<T, N>[]>;
  <Rows extends object[]>(columns: Selected<T> | readonly Selected<T>[]): Query<T, Rows>;
}
interface Select<T extends TableName> {
  (): Query<T, Row<T>[]>;
  <N extends Named<T>>(...columns: N[]): Query<T, Picked<T, N>[]>;
  <N extends Named<T>>(columns: readonly N[]): Query<T, Picked<T, N>[]>;
  <Rows extends object[] = Row<T>[]>(...columns: Selected<T>[]): Query<T, Rows>;
  <Rows extends object[] = Row<T>[]>(columns: readonly Selected<T>[]): Query<T, Rows>;
}
interface First<T extends TableName, R> {
  (): Query<T, (R extends readonly (infer One)[] ? One : R) | undefined>;
  <N extends Named<T>>(...columns: [N, ...N[]]): Query<T, Picked<T, N> | undefined>;
  <N extends Named<T>>(columns: readonly N[]): Query<T, Picked<T, N> | undefined>;
  <One extends object | undefined>(...columns: Selected<T>[]): Query<T, One>;
  <One extends object | undefined>(columns: readonly Selected<T>[]): Query<T, One>;
}
interface OrderBy<T extends TableName, R> {
  (column: Named<T> | Knex.Raw, direction?: 'asc' | 'desc', nulls?: 'first' | 'last'): Query<T, R>;
  (
    columns: readonly (Named<T> | { column: Named<T>; order?: 'asc' | 'desc'; nulls?: 'first' | 'last' })[],
  ): Query<T, R>;
}
interface Conflict<T extends TableName, R> {
  ignore(): Query<T, R>;
  merge(columns?: Column<T>[] | Update<T>): Query<T, R>;
}
interface Written<T extends TableName> {
  (values: Update<T>): Query<T, number>;
  <C extends Column<T>>(values: Update<T>, returning: C | readonly C[]): Query<T, Pick<Row<T>, C>[]>;
}
type Raw<T extends TableName, R> = (sql: string | Knex.Raw, bindings?: readonly unknown[]) => Query<T, R>;

interface Typed<T extends TableName, R> {
  where: Where<T, R>;
  andWhere: Where<T, R>;
  orWhere: Where<T, R>;
  whereNot: Where<T, R>;
  whereIn: WhereIn<T, R>;
  whereNotIn: WhereIn<T, R>;
  whereNull: WhereNull<T, R>;
  whereNotNull: WhereNull<T, R>;
  orWhereNull: WhereNull<T, R>;
  whereRaw: Raw<T, R>;
  andWhereRaw: Raw<T, R>;
  orWhereRaw: Raw<T, R>;
  orderByRaw: Raw<T, R>;
  select: Select<T>;
  first: First<T, R>;
  returning: Returning<T>;
  insert(rows: Insert<T> | readonly Insert<T>[]): Query<T, number[]>;
  update: Written<T>;
  increment(column: Column<T>, by?: number): Query<T, number>;
  delete(): Query<T, number>;
  del(): Query<T, number>;
  onConflict(columns?: Column<T> | readonly Column<T>[] | Knex.Raw): Conflict<T, R>;
  pluck<N extends Named<T>>(column: N): Query<T, ValueOf<T, N>[]>;
  orderBy: OrderBy<T, R>;
  limit(most: number): Query<T, R>;
  offset(first: number): Query<T, R>;
  forUpdate(...tables: (string | readonly string[])[]): Query<T, R>;
  forShare(...tables: (string | readonly string[])[]): Query<T, R>;
  skipLocked(): Query<T, R>;
  clone(): Query<T, R>;
  timeout(ms: number, options?: { cancel: boolean }): Query<T, R>;
  /** `narrow` may do anything that a query may do. */
  modify<A extends unknown[]>(narrow: (query: Knex.QueryBuilder, ...more: A) => void, ...more: A): Query<T, R>;
  then: Promise<R>['then'];
  catch: Promise<R>['catch'];
  finally: Promise<R>['finally'];
}

/**
 * A query on one table of the schema: a table, column or value that does not fit it does not compile. Joins, subqueries
 * and unions return knex's own builder, which knows no columns.
 */
export type Query<T extends TableName, R> = Typed<T, R> & Omit<Knex.QueryBuilder<Row<T>, R>, keyof Typed<T, R>>;

/** Knex on this schema. Columns of a table with an alias are not checked. */
export interface TypedKnex extends Omit<{ [K in keyof Knex]: Knex[K] }, 'transaction'> {
  <T extends TableName>(table: T): Query<T, Row<T>[]>;
  (
    aliased:
      | `${TableName} as ${string}`
      | { readonly [alias: string]: TableName | Subquery }
      | Knex.QueryBuilder
      | Knex.Raw,
  ): Knex.QueryBuilder;
  transaction<R>(work: (tx: TypedKnex) => Promise<R>, config?: Knex.TransactionConfig): Promise<R>;
  /** Starts a transaction that the caller ends. */
  transaction(work?: undefined, config?: Knex.TransactionConfig): Promise<Transaction>;
}

export type Transaction = TypedKnex & Pick<Knex.Transaction, 'commit' | 'rollback' | 'isCompleted'>;
