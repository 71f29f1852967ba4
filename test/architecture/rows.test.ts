import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { owners, roomsOf } from './table-owners.ts';

const root = new URL('../../', import.meta.url).pathname;
const GENERATED = 'api/platform/tables.ts';

const files = ['api', 'workers', 'operator'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/(^|\/)(migrations|client)\//.test(name))
    .map((name) => `${folder}/${name}`)
    .filter((file) => file !== GENERATED),
);
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Name and type of each member that is indented by `indent`. */
const membersOf = (body: string, indent: number): Map<string, string> =>
  new Map(
    [...body.matchAll(new RegExp(`^ {${indent}}(\\w+)\\??: ([^;]*);$`, 'gm'))].map(([, name = '', type = '']) => [
      name,
      type,
    ]),
  );

const tables = new Map(
  [...textOf(GENERATED).matchAll(/^ {2}(\w+): \{\n(.*?)\n {2}\};$/gms)].map(([, table = '', body = '']) => [
    table,
    membersOf(body, 4),
  ]),
);

/** A type without null and wrapper. A name may stand for text or for JSON, both of which ColumnTypes can narrow. */
function kindOf(type: string): string {
  const bare = type.replace(/^(?:Defaulted|Computed)<(.*)>$/, '$1').replace(/ \| null$/, '');
  if (bare.endsWith('[]')) return 'list';
  return /^(?:number|boolean|Date|Buffer)$/.test(bare) ? bare : 'text or JSON';
}

/** The table that has every member as a column of that kind. */
function tableOf(members: ReadonlyMap<string, string>): string | undefined {
  const fits = (columns: ReadonlyMap<string, string>): boolean =>
    [...members].every(([name, type]) => {
      const column = columns.get(name);
      if (column === undefined) return false;
      return kindOf(column) === kindOf(type) || (kindOf(type) === 'list' && column.includes('Json'));
    });
  return [...tables].find(([, columns]) => fits(columns))?.[0];
}

describe('rows', () => {
  it('take their columns from the generated tables', () => {
    let read = 0;
    const wrong = files.flatMap((file) =>
      [...textOf(file).matchAll(/^(?:export )?(?:interface|type) (\w*Row)(?: =)? \{\n(.*?)\n\}/gms)].flatMap(
        ([, name = '', body = '']) => {
          const members = membersOf(body, 2);
          if (members.size === 0) return [];
          read += 1;
          const table = tableOf(members);
          return table === undefined ? [] : [`${file}: ${name} repeats columns of ${table}; use Row<'${table}'>`];
        },
      ),
    );
    expect(wrong.join('\n')).to.equal('');
    expect(read).to.be.greaterThan(5);
    expect(tables.size).to.equal(Object.keys(owners).length);
  });

  it('have the types of JSON columns declared by the room that owns the table', () => {
    const declared = files
      .filter((file) => file !== 'api/platform/column-types.ts')
      .flatMap((file) => {
        const [, body = ''] = /^declare module '[^']*column-types\.ts' \{\n(.*?)\n\}/ms.exec(textOf(file)) ?? [];
        return [...body.matchAll(/^ {4}'(\w+)\.\w+':/gm)].map(([, table = '']) => ({ file, table }));
      });
    const wrong = declared.filter(({ file, table }) => !roomsOf(file).includes(owners[table as keyof typeof owners]));
    expect(wrong.map(({ file, table }) => `${file} declares a column of ${table}`).join('\n')).to.equal('');
    expect(declared.length).to.be.greaterThan(60);
  });
});
