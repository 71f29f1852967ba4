import { readFileSync } from 'node:fs';

/** A statement that changes rows of a table, by where it stands. */
export interface Write {
  table: string;
  file: string;
  line: number;
}

const CHANGES = /^(insert|update|delete|del|truncate|increment|decrement|upsert)$/;
const STATEMENT =
  /\b(?:insert\s+into|update|delete\s+from|merge\s+into|truncate(?:\s+table)?)\s+(?:only\s+)?(?:public\.)?"?([a-z_]+)"?/gi;

/** Every write in a source file: by knex on a named table, and in SQL text. `file` is the path that the writes are reported with. */
export function writesIn(path: string, file: string, tables: ReadonlySet<string>): Write[] {
  const text = readFileSync(path, 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  const found: Write[] = [];
  const add = (table: string | undefined, at: number): void => {
    if (table && tables.has(table)) found.push({ table, file, line: text.slice(0, at).split('\n').length });
  };
  for (const { 1: table, index } of text.matchAll(STATEMENT)) add(table, index);
  for (const call of text.matchAll(
    /(?:\b(?:const|let)\s+(\w+)\s*=\s*(?:await\s+)?)?[\w.]*\w\s*\(\s*'([a-z_]+)(?:\s+as\s+\w+)?'\s*\)/g,
  )) {
    const [whole, variable, table] = call;
    if (changes(text, call.index + whole.length)) add(table, call.index);
    else if (variable && new RegExp(`\\b${variable}\\s*\\.\\s*(insert|update|delete|del)\\(`).test(text))
      add(table, call.index);
  }
  for (const call of text.matchAll(/\b\w+\(\s*([A-Z][A-Z_]*)(?:\s+as\s+\w+)?\s*\)/g)) {
    if (changes(text, call.index + call[0].length)) add(constant(text, call[1]), call.index);
  }
  for (const { 1: table, index } of text.matchAll(/\.(?:into|batchInsert)\(\s*'([a-z_]+)'/g)) add(table, index);
  return found;
}

/** The text that a constant of the file stands for. */
const constant = (text: string, name = ''): string | undefined =>
  new RegExp(`\\bconst ${name} = '([a-z_]+)'`).exec(text)?.[1];

/** Lines that write to a table that only the running program knows. */
export function dynamicWritesIn(path: string): number[] {
  const text = readFileSync(path, 'utf8');
  const lines: number[] = [];
  for (const call of text.matchAll(/\b(?:db|tx|trx|transaction|from|into)\(\s*([a-z]\w*)\s*\)/gi)) {
    if (constant(text, call[1]) === undefined && changes(text, call.index + call[0].length))
      lines.push(text.slice(0, call.index).split('\n').length);
  }
  for (const call of text.matchAll(/\b(?:insert into|update|delete from)\s+(?:\?\?|\$\{)/gi)) {
    lines.push(text.slice(0, call.index).split('\n').length);
  }
  return lines;
}

/** Whether the chain of calls that follows changes rows. */
function changes(text: string, from: number): boolean {
  let at = from;
  for (;;) {
    const next = /^\s*\??\.\s*(\w+)\s*(?:<[^(]*>)?\(/.exec(text.slice(at, at + 400));
    if (!next) return false;
    if (CHANGES.test(next[1] ?? '')) return true;
    at = closing(text, at + next[0].length);
  }
}

/** Behind the bracket that ends the arguments which begin at `from`. */
function closing(text: string, from: number): number {
  let depth = 1;
  let at = from;
  for (; at < text.length && depth > 0; at += 1) {
    const sign = text[at];
    if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    else if (sign === "'" || sign === '"' || sign === '`') at = quoteEnd(text, at, sign);
  }
  return at;
}

function quoteEnd(text: string, from: number, quote: string): number {
  let at = from + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1;
  return at;
}
