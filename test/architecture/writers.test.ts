import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { dynamic, exceptions, owners, roomsOf } from './table-owners.ts';
import { dynamicWritesIn, type Write, writesIn } from './writes.ts';

const root = new URL('../../', import.meta.url).pathname;
const tables = new Set(Object.keys(owners));

const files = ['api', 'workers'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/(^|\/)(migrations|client)\//.test(name))
    .map((name) => `${folder}/${name}`),
);

const foreign = ({ file, table }: Write): boolean =>
  !roomsOf(file).includes(owners[table as keyof typeof owners]) &&
  !exceptions[file]?.tables.some((allowed) => allowed === table);

describe('tables', () => {
  const writes = files.flatMap((file) => writesIn(join(root, file), file, tables));

  it('are written by the room that owns them', () => {
    const wrong = writes.filter(foreign).map(({ file, line, table }) => `${file}:${line} writes ${table}`);
    expect(wrong.join('\n')).to.equal('');
    expect(writes.length).to.be.greaterThan(250);
  });

  it('are named where they are written', () => {
    const wrong = files
      .filter((file) => !Object.keys(dynamic).some((start) => file.startsWith(start)))
      .flatMap((file) => dynamicWritesIn(join(root, file)).map((line) => `${file}:${line}`));
    expect(wrong.join('\n')).to.equal('');
  });

  it('have no exception that nothing needs', () => {
    const unused = Object.entries(exceptions).flatMap(([file, { tables: allowed }]) =>
      allowed.filter((table) => !writes.some((write) => write.file === file && write.table === table)),
    );
    expect(unused).to.deep.equal([]);
  });

  it('exist wherever a query names one', () => {
    const known = new Set([...tables, 'knex_migrations', 'pg_index']);
    for (const file of files) {
      const text = readFileSync(join(root, file), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
      for (const [, table = ''] of text.matchAll(
        /(?<!Buffer|Array|Readable)\.(?:(?:from|into)\(\s*'|(?:join|leftJoin|innerJoin|crossJoin)\(\s*'(?=[^']*',))([a-z][a-z_]{1,24})(?: as \w+)?'/g,
      )) {
        expect(
          known.has(table) ||
            new RegExp(`(with|create temporary table) ${table}\\b|\\.with\\w*\\('${table}'`, 'i').test(text),
          `${file} names ${table}`,
        ).to.equal(true);
      }
    }
  });
});
