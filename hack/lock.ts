// Completes package-lock.json, here and in web/: `npm ci` requires an entry for every optional package of every platform, and `npm install` leaves out
// those that its registry does not have. Run it after `npm install`; `--check` only lists the missing ones.
import { readFileSync, writeFileSync } from 'node:fs';

export const LOCKS = ['package-lock.json', 'web/package-lock.json'].map(
  (path) => new URL(`../${path}`, import.meta.url),
);
const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];

interface Entry {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  cpu?: string[];
  os?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

export interface Lock {
  packages: Record<string, Entry>;
}

/** The platform in the name of a package, such as `@biomejs/cli-linux-x64-musl`; undefined for other packages. */
function platformOf(name: string): Pick<Entry, 'cpu' | 'os' | 'libc'> | undefined {
  const parts = name.slice(name.lastIndexOf('/') + 1).split('-');
  const at = parts.findIndex((part) => SYSTEMS.includes(part));
  const [os, cpu, abi = ''] = at < 0 ? [] : parts.slice(at);
  if (!os || !cpu) return undefined;
  const libc = abi.startsWith('musl') ? ['musl'] : abi.startsWith('gnu') ? ['glibc'] : undefined;
  return { cpu: [cpu], ...(libc && { libc }), os: [os] };
}

/** Entries that the lock lacks, by path. They have no integrity, since the packages are not available here. */
export function missingEntries({ packages }: Lock): Record<string, Entry> {
  const wanted = Object.values(packages).flatMap(({ dev, optionalDependencies = {} }) =>
    Object.entries(optionalDependencies).map(([name, version]) => ({ name, version, dev })),
  );
  const missing = wanted.flatMap(({ name, version, dev }): [string, Entry][] => {
    const platform = platformOf(name);
    const path = `node_modules/${name}`;
    if (path in packages || !platform) return [];
    return [[path, { version, ...(dev && { dev }), ...platform, optional: true }]];
  });
  return Object.fromEntries(missing);
}

function completed(lock: Lock, missing: Lock['packages']): string {
  const { '': root = {}, ...packages } = { ...lock.packages, ...missing };
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  return `${JSON.stringify({ ...lock, packages: { '': root, ...Object.fromEntries(sorted) } }, null, 2)}\n`;
}

/** Writes or lists what a lock lacks; true when it lacked nothing. */
function complete(file: URL, listOnly: boolean): boolean {
  const lock = JSON.parse(readFileSync(file, 'utf8')) as Lock;
  const missing = missingEntries(lock);
  const names = Object.keys(missing);
  if (!listOnly) writeFileSync(file, completed(lock, missing));
  const lines = listOnly ? names.map((name) => `missing: ${name}\n`) : [`added ${names.length} entries\n`];
  process.stdout.write(lines.join(''));
  return names.length === 0;
}

if (import.meta.main) {
  const listOnly = process.argv.includes('--check');
  const whole = LOCKS.map((file) => complete(file, listOnly));
  if (listOnly && whole.includes(false)) process.exitCode = 1;
}
