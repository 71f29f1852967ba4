import { execFileSync } from 'node:child_process';

const isThere = (program: string): boolean => {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Programs of Debian by the names of their packages; missing ones are installed where that is possible. */
export function requirePrograms(programs: Readonly<Record<string, string>>): void {
  const packages = Object.entries(programs).flatMap(([program, name]) => (isThere(program) ? [] : [name]));
  if (packages.length === 0) return;
  const install = ['install', '-y', '-q', '--no-install-recommends', ...packages];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', install, { env, stdio: ['ignore', 'ignore', 'inherit'] });
}
