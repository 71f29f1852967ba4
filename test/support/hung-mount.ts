// A folder of an SSH server, mounted by sshfs, whose server stops answering: as a network file system does whose host is gone.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually, freePort } from './stores.ts';

export interface HungMount {
  /** No call to the mount returns any more. */
  hang: () => void;
  /** All calls go on. */
  resume: () => void;
  end: () => Promise<void>;
}

/** File systems of users are not to be had in every container. */
export const canMount = (): boolean => existsSync('/dev/fuse') && process.getuid?.() === 0;

/** Mounts `files` at `target`; `home` takes the keys and the log. */
export async function mountOverSsh(
  home: string,
  { files, target }: { files: string; target: string },
): Promise<HungMount> {
  for (const folder of [home, target, '/run/sshd']) mkdirSync(folder, { recursive: true });
  for (const key of ['host', 'user'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, key)]);
  writeFileSync(join(home, 'authorized'), readFileSync(join(home, 'user.pub')));
  const port = await freePort();
  const lines = [
    ...[`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${home}/host`, `AuthorizedKeysFile ${home}/authorized`],
    ...['StrictModes no', 'UsePAM no', 'PasswordAuthentication no', `PidFile ${home}/pid`, 'PermitRootLogin yes'],
    'Subsystem sftp internal-sftp',
  ];
  writeFileSync(join(home, 'sshd.conf'), `${lines.join('\n')}\n`);
  const log = openSync(join(home, 'log'), 'a');
  const server = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(home, 'sshd.conf')], {
    stdio: ['ignore', 'ignore', log],
  });
  const gone = once(server, 'exit');
  const signal = (name: NodeJS.Signals): void => {
    for (const pid of treeOf(server.pid ?? 0)) process.kill(pid, name);
  };
  // Ends when this process does, however it ends: a mount that stays would hang whatever reads it next.
  const guard = spawn('/bin/sh', ['-c', GUARD, 'guard', String(server.pid), target], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  const guarded = once(guard, 'exit');
  const end = async (): Promise<void> => {
    guard.stdin.end();
    await guarded;
    await gone;
  };
  try {
    await eventually(() => answers(port), 20_000);
    const options = [
      ...[`IdentityFile=${home}/user`, 'StrictHostKeyChecking=no', `UserKnownHostsFile=${home}/known`, 'allow_other'],
      ...['dcache_timeout=1', 'attr_timeout=1', 'entry_timeout=1'], // a longer memory would hide the hang for a while
    ];
    execFileSync('sshfs', [`root@127.0.0.1:${files}`, target, '-p', String(port), '-o', options.join(',')]);
  } catch (error) {
    await end();
    throw error;
  }
  return { hang: () => signal('SIGSTOP'), resume: () => signal('SIGCONT'), end };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect').then(
    () => {
      socket.destroy();
      return true;
    },
    () => false,
  );
}

/** Resumes all processes of the server ($1), unmounts the folder ($2), and ends them, once its input ends. */
const GUARD = `
  below() { for one in $(cat /proc/$1/task/$1/children 2>/dev/null); do echo $one; below $one; done; }
  read -r _
  all="$1 $(below $1)"
  kill -CONT $all
  umount -l "$2"
  kill -KILL $all`;

/** A process and all below it. */
function treeOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(file)) return [];
  const children = readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(treeOf)];
}
