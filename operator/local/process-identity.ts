// A pid alone may have been given to another process meanwhile; with the start time (and the boot) it cannot.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What tells this process from a later one of the same pid; undefined when it is gone, its ports and files with it. */
export function identityOf(pid: number): string | undefined {
  return process.platform === 'linux' ? linuxIdentity(pid) : psIdentity(pid);
}

export function isAlive(pid: number, identity: string): boolean {
  return identityOf(pid) === identity;
}

function linuxIdentity(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before may hold anything
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // The first thread is a zombie as soon as it ended; while others still end, sockets are open yet.
    const gone = fields[0] === 'X' || (fields[0] === 'Z' && Number(fields[17]) <= 1);
    return gone ? undefined : `${boot}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

function psIdentity(pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}
