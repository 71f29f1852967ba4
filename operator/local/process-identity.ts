// A pid may be reused; together with the start time (and the boot) it is unique.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Distinguishes this process from a later one with the same pid; undefined when the process has ended and released its ports
 * and files.
 */
export function identityOf(pid: number): string | undefined {
  return process.platform === 'linux' ? linuxIdentity(pid) : psIdentity(pid);
}

export function isAlive(pid: number, identity: string): boolean {
  return identityOf(pid) === identity;
}

function linuxIdentity(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name may contain any character
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // The first thread becomes a zombie when it ends; while other threads run, sockets are still open.
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
