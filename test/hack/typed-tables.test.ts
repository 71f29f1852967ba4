import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { atEnd } from '#support/stores.ts';

const run = promisify(execFile);
const root = new URL('../../', import.meta.url).pathname;

/** The fault of each line; the first fits. */
const statements = {
  fits: `await db('labels').where({ id }).first('name')`,
  'a table': `await db('lables').where({ id })`,
  'an aliased table': `await db('lables as l').where({ id })`,
  'a column in where': `await db('labels').where({ idd: id })`,
  'a named column in where': `await db('labels').where('idd', id)`,
  'a value in where': `await db('labels').where({ number: id })`,
  'an undefined value in where': `await db('labels').where({ id: undefined })`,
  'a column in whereIn': `await db('labels').whereIn('idd', [id])`,
  'a column in insert': `await db('labels').insert({ id, number: 1, name: id, name_folded: id, color: id, colour: id })`,
  'a missing column in insert': `await db('labels').insert({ id })`,
  'a column in update': `await db('labels').update({ colour: id })`,
  'a value in update': `await db('jobs').update({ state: 'runing' })`,
  'a column in select': `await db('labels').select('id', 'colour')`,
  'a column in first': `await db('labels').first('colour')`,
  'a column that was not read': `(await db('labels').first('name'))?.color`,
};

describe('typed tables', () => {
  it('refuses a table, column or value that the schema does not have', async function () {
    this.timeout(120_000);
    mkdirSync(join(root, '.cache'), { recursive: true });
    const folder = mkdtempSync(join(root, '.cache', 'probe-')); // below the root, which `#platform` is found from
    atEnd(() => rmSync(folder, { recursive: true }));
    const lines = Object.values(statements);
    const head = [`import type { Db } from '#platform/db.ts';`, 'export async function probe(db: Db, id: string) {'];
    writeFileSync(join(folder, 'probe.ts'), [...head, ...lines.map((line) => `  ${line};`), '}', ''].join('\n'));
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: '../../tsconfig.json', include: ['probe.ts'] }),
    );
    const { stdout } = await run('tsc', ['-p', folder, '--incremental', 'false', '--tsBuildInfoFile', 'null']).catch(
      (error: { stdout: string }) => error,
    );
    const refused = new Set(
      [...stdout.matchAll(/probe\.ts\((\d+),/g)].map(([, line]) => Number(line) - head.length - 1),
    );
    const named = Object.keys(statements).filter((_, index) => refused.has(index));
    expect(named).to.deep.equal(Object.keys(statements).slice(1));
  });
});
