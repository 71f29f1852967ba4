import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

const root = new URL('../../', import.meta.url).pathname;
const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { imports: Record<string, string> };

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

describe('architecture', () => {
  it('has no cycle between areas', () => {
    const uses = new Map<string, Set<string>>();
    for (const file of sources('api/areas')) {
      const own = file.split('/areas/')[1]?.split('/')[0] ?? '';
      for (const [, other = ''] of readFileSync(file, 'utf8').matchAll(/from '#areas\/([a-z-]+)\/public\.ts'/g)) {
        uses.set(own, (uses.get(own) ?? new Set()).add(other));
      }
    }
    const visit = (area: string, path: string[]): void => {
      if (path.includes(area)) throw new Error(`cycle: ${[...path, area].join(' → ')}`);
      for (const other of uses.get(area) ?? []) visit(other, [...path, area]);
    };
    for (const area of uses.keys()) visit(area, []);
  });

  it('has no files that name each other in a circle, types included', () => {
    const aliases = Object.entries(imports).map(([alias, path]) => [alias.slice(0, -1), join(root, path.slice(0, -1))]);
    const pathOf = (from: string, name: string): string | undefined => {
      if (name.startsWith('.')) return join(dirname(from), name);
      const [alias = '', folder = ''] = aliases.find(([start = '']) => name.startsWith(start)) ?? [];
      return alias ? folder + name.slice(alias.length) : undefined;
    };
    const named = (file: string): string[] =>
      [...readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^;']*'([\w#./-]+)'/gm)].flatMap(
        ([, name = '']) => pathOf(file, name) ?? [],
      );
    const done = new Set<string>();
    const visit = (file: string, path: readonly string[]): void => {
      const from = path.indexOf(file);
      if (from >= 0) throw new Error(`circle: ${[...path.slice(from), file].join(' → ')}`);
      if (done.has(file)) return;
      for (const other of named(file)) if (other.endsWith('.ts')) visit(other, [...path, file]);
      done.add(file);
    };
    for (const folder of ['api', 'workers', 'operator', 'hack']) for (const file of sources(folder)) visit(file, []);
    expect(done.size).to.be.greaterThan(900);
  });

  it('divides an area of more than 20 files into folders', () => {
    const crowded = new Set(sources('api/areas').map(dirname));
    for (const folder of crowded) {
      const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
      expect(files.length, folder).to.be.at.most(20);
    }
    expect(crowded.size).to.be.greaterThan(40);
  });

  it('loads no endpoint before a request needs it', () => {
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const [, type, name = ''] of readFileSync(file, 'utf8').matchAll(
        /^(?:import|export)( type)?\b[^;=]*?'([#.][\w#./-]+)'/gm,
      )) {
        const alias = Object.entries(imports).find(([start]) => name.startsWith(start.slice(0, -1)));
        if (!type && name.endsWith('.ts'))
          visit(alias ? join(root, alias[1].slice(0, -1), name.slice(alias[0].length - 1)) : join(dirname(file), name));
      }
    };
    visit(join(root, 'api/main.ts'));
    expect([...reached].filter((file) => file.endsWith('.endpoints.ts'))).to.deep.equal([]);
    expect(reached.size).to.be.greaterThan(150);
  });

  it('lists each decision in the index, by number, date and title', () => {
    const folder = join(root, 'hack/decisions');
    const files = readdirSync(folder).filter((name) => name !== 'README.md');
    const listed = [
      ...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(
        /^\| *(\d{3}) *\| *\d{4}-\d\d-\d\d *\| *\[(.+)\]\((.+)\) *\|$/gm,
      ),
    ];
    expect(listed.map(([, , , file]) => file)).to.have.members(files);
    for (const [, number, title, file = ''] of listed)
      expect(readFileSync(join(folder, file), 'utf8').split('\n')[0], file).to.equal(`# ${number} ${title}`);
  });

  it('names each migration by time and area, in order', () => {
    const names = readdirSync(join(root, 'api/platform/migrations')).filter((name) => name !== 'index.ts');
    for (const name of names) expect(name).to.match(/^\d{14}_[a-z-]+_[a-z_]+\.ts$/);
    const listed = [
      ...readFileSync(join(root, 'api/platform/migrations/index.ts'), 'utf8').matchAll(/'(\d{14}_\w+)':/g),
    ].map((m) => `${m[1]}.ts`);
    expect(listed).to.deep.equal([...listed].sort((a, b) => a.localeCompare(b)));
    expect(listed).to.have.members(names);
  });

  it('writes each table from one area alone', () => {
    const writers = new Map<string, Set<string>>();
    const written = /(?:insert into|update|delete from)\s+([a-z_]+)\b/gi;
    const tables = new Set<string>();
    for (const file of sources('api/platform/migrations')) {
      for (const [, table = ''] of readFileSync(file, 'utf8').matchAll(/create table (\w+)/g)) tables.add(table);
    }
    for (const file of sources('api/areas').filter((name) => name.endsWith('.view.ts'))) {
      for (const [, table = ''] of readFileSync(file, 'utf8').matchAll(written)) {
        if (tables.has(table)) writers.set(table, (writers.get(table) ?? new Set()).add(file));
      }
    }
    expect([...writers.keys()], 'a view only reads').to.deep.equal([]);
  });

  it('keeps console, any and unfinished words out of the product', () => {
    for (const file of [...sources('api'), ...sources('workers'), ...sources('operator')]) {
      const text = readFileSync(file, 'utf8').replace(/\/\/.*|^ *\*.*/gm, '');
      expect(text, file).to.not.match(/\bconsole\.|: any\b|as any\b|@ts-(ignore|expect-error)|\b(TODO|FIXME|XXX)\b/);
    }
  });

  it('ends its processes by endProcess, which no compile thread can hold up', () => {
    for (const file of [...sources('api'), ...sources('workers'), ...sources('operator')]) {
      if (/\/leave\.ts$/.test(file)) continue;
      const text = readFileSync(file, 'utf8').replace(/\/\/.*|^ *\*.*/gm, '');
      expect(text, file).to.not.match(/\bprocess\.(exit|reallyExit|abort)\(/);
    }
  });

  it('has one HTTP client: requests to other hosts go through platform/outbound.ts', () => {
    // The parser pods and the managed object store are the server's own. The docs page carries a script that fetches in the browser; servers import only createServer and types.
    const apart = [
      'api/platform/outbound.ts',
      'api/platform/outbound-agent.ts',
      'api/platform/parser.ts',
      'api/areas/storage/readers/relay.ts', // the API pods of this server
      'api/areas/storage/readers/webdav-redirects.ts', // by the judged agents of webdav.ts
      'workers/store-space.ts',
      'workers/tuner/streams/outlet.ts', // a socket of this process, for its ffmpeg
      'workers/live/read-stream.ts', // a stream without end, by the judged agent of outbound-agent.ts
      'api/areas/server/docs-page.ts',
      'api/platform/media-bytes.ts', // reads from this process, on loopback
    ];
    const client =
      /\bfetch\(|from '(node:https|node:http2|node:tls|undici|axios|got)'|import [^;]*\b(request|get|Agent)\b[^;]*from 'node:http'|\bhttps?\.(request|get)\(|\bnet\.connect\(|import [^;]*\b(connect|createConnection|Socket)\b[^;]*from 'node:net'/;
    for (const file of [...sources('api'), ...sources('workers')]) {
      if (apart.some((name) => file.endsWith(name))) continue;
      const statements = readFileSync(file, 'utf8').replace(/\bimport type [^;]*;|\btype \w+/g, '');
      expect(statements, file).to.not.match(client);
    }
  });

  it('names no path of a machine and no registry in the tree', () => {
    for (const file of [
      ...sources('api'),
      ...sources('workers'),
      ...sources('operator'),
      ...sources('hack'),
      ...sources('test'),
    ]) {
      if (file.includes('/architecture/')) continue;
      expect(readFileSync(file, 'utf8'), file).to.not.match(
        /['"` ]\/(work|farm)\/|registry\.npmjs\.org|deb\.debian\.org/,
      );
    }
  });
});
