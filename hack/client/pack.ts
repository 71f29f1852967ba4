// The typed client as an npm package: plain JavaScript and its types, of the server's version.
//   node hack/client/pack.ts INTO      then `npm publish INTO`
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [into] = process.argv.slice(2);
if (!into) throw new Error('hack/client/pack.ts: say into which folder');
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
const { version, dependencies } = read('package.json') as { version: string; dependencies: Record<string, string> };

mkdirSync(into, { recursive: true });
const languages = ['--target', 'es2023', '--lib', 'es2024,dom,dom.iterable', '--module', 'nodenext', '--strict'];
const emits = ['--declaration', '--rewriteRelativeImportExtensions', '--outDir', into, '--skipLibCheck', '--types', ''];
execFileSync('tsc', ['--ignoreConfig', 'api/client/index.ts', ...languages, ...emits], { stdio: 'inherit' });
const parser = 'eventsource-parser';
const described = { ...read('api/client/package.json'), version, dependencies: { [parser]: dependencies[parser] } };
writeFileSync(join(into, 'package.json'), `${JSON.stringify(described, null, 2)}\n`);
copyFileSync('api/client/README.md', join(into, 'README.md'));
