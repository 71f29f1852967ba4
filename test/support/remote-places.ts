// Real servers that storages read from: Apache with mod_dav, OpenSSH, and the S3 server of the run.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, relative } from 'node:path';
import { bucketClient } from '#platform/objects.ts';
import { ACCESS, SECRET, startS3 } from './s3.ts';
import { atEnd, eventually, freePort, temporaryFolder } from './stores.ts';

export const LOOPBACK = { FOYER_STORAGE_NETWORKS: '["127.0.0.0/8"]' };

/** A place with the files of a folder, and how a storage reaches it. */
export interface RemotePlace {
  kind: 's3' | 'webdav' | 'sftp';
  settings: Record<string, unknown>;
  secrets: Record<string, string>;
  /** Puts a file there, past the storage. */
  put: (path: string, content: Buffer) => Promise<void>;
  /** Whether a file is there. */
  has: (path: string) => Promise<boolean>;
  /** Multipart uploads of the bucket, by their ids. */
  parts?: { begin: (path: string) => Promise<string>; pending: () => Promise<string[]> };
  /** Ends the server; absent for the shared one. */
  stop?: () => void;
}

async function answers(port: number, isAlive: () => boolean): Promise<void> {
  await eventually(async () => {
    if (!isAlive()) throw new Error('the server ended');
    const socket = connect(port, '127.0.0.1');
    return once(socket, 'connect').then(
      () => {
        socket.destroy();
        return true;
      },
      () => false,
    );
  }, 20_000);
}

interface Running {
  stop: () => void;
}

async function run(command: string[], port: number, log: string): Promise<Running> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', openSync(log, 'a')] });
  const gone = once(child, 'exit');
  const stop = (): void => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const own = child.pid ?? 0;
    const serving = readFileSync(`/proc/${own}/task/${own}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    for (const pid of [own, ...serving]) process.kill(pid, 'SIGKILL');
  };
  atEnd(async () => {
    stop();
    await gone;
  });
  await answers(port, () => child.exitCode === null).catch((error: Error) => {
    throw new Error(`${program}: ${error.message}: ${readFileSync(log, 'utf8').slice(-1000)}`);
  });
  return { stop };
}

const inFolder = (folder: string): Pick<RemotePlace, 'put' | 'has'> => ({
  put: async (path, content) => {
    const target = join(folder, path);
    mkdirSync(join(target, '..'), { recursive: true });
    writeFileSync(target, content);
    open(folder);
  },
  has: async (path) => existsSync(join(folder, path)),
});

/** Apache does not run its children as root. */
const open = (folder: string): void => void execFileSync('chmod', ['-R', 'a+rwX', folder]);

export async function webdavPlace(from?: string): Promise<RemotePlace> {
  const home = temporaryFolder('webdav');
  const files = join(home, 'files');
  mkdirSync(join(home, 'locks'), { recursive: true });
  mkdirSync(files);
  if (from) cpSync(from, files, { recursive: true });
  writeFileSync(join(home, 'users'), `ada:${execFileSync('openssl', ['passwd', '-apr1', 'canary-pass']).toString()}`);
  open(home);
  const port = await freePort();
  const modules = ['mpm_event', 'authn_core', 'authn_file', 'authz_core', 'authz_user', 'auth_basic', 'dav', 'dav_fs'];
  const lines = [
    ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    ...[`Listen 127.0.0.1:${port}`, 'ServerName 127.0.0.1', `PidFile ${home}/pid`, 'User www-data', 'Group www-data'],
    ...[
      `ErrorLog ${home}/error.log`,
      `DavLockDB ${home}/locks/db`,
      `DocumentRoot ${home}`,
      `DefaultRuntimeDir ${home}`,
    ],
    ...[`Alias /dav ${files}`, `<Directory ${files}>`, 'Dav On', 'AuthType Basic', 'AuthName films'],
    ...[`AuthUserFile ${home}/users`, 'Require valid-user', '</Directory>', ''],
  ].map((line) =>
    line.startsWith('Alias') ? `LoadModule alias_module /usr/lib/apache2/modules/mod_alias.so\n${line}` : line,
  );
  writeFileSync(join(home, 'apache.conf'), lines.join('\n'));
  const command = ['/usr/sbin/apache2', '-d', home, '-f', join(home, 'apache.conf'), '-DFOREGROUND'];
  const { stop } = await run(command, port, join(home, 'log'));
  const settings = { url: `http://127.0.0.1:${port}/dav`, username: 'ada' };
  return { kind: 'webdav', settings, secrets: { password: 'canary-pass' }, ...inFolder(files), stop };
}

export async function sftpPlace(from?: string): Promise<RemotePlace> {
  const home = temporaryFolder('sftp');
  const files = join(home, 'files');
  mkdirSync(files);
  if (from) cpSync(from, files, { recursive: true });
  for (const key of ['host', 'user'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, key)]);
  writeFileSync(join(home, 'authorized'), readFileSync(join(home, 'user.pub')));
  mkdirSync('/run/sshd', { recursive: true });
  const port = await freePort();
  const lines = [
    ...[`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${home}/host`, `AuthorizedKeysFile ${home}/authorized`],
    ...['StrictModes no', 'UsePAM no', 'PasswordAuthentication no', `PidFile ${home}/pid`, 'PermitRootLogin yes'],
    'Subsystem sftp internal-sftp',
  ];
  writeFileSync(join(home, 'sshd.conf'), `${lines.join('\n')}\n`);
  const { stop } = await run(['/usr/sbin/sshd', '-D', '-e', '-f', join(home, 'sshd.conf')], port, join(home, 'log'));
  const printed = execFileSync('ssh-keygen', ['-l', '-f', join(home, 'host.pub')]).toString();
  const hostKeySha256 = /SHA256:(\S+)/.exec(printed)?.[1];
  const username = execFileSync('id', ['-un']).toString().trim();
  const settings = { host: '127.0.0.1', port, username, path: files, hostKeySha256 };
  const secrets = { privateKey: readFileSync(join(home, 'user'), 'utf8') };
  return { kind: 'sftp', settings, secrets, ...inFolder(files), stop };
}

let buckets = 0;

export async function s3Place(from?: string): Promise<RemotePlace> {
  const url = new URL(await startS3());
  buckets += 1;
  const bucket = `films-${process.pid}-${buckets}`;
  const client = bucketClient({
    ...{ endPoint: url.hostname, port: Number(url.port), useSSL: false, region: 'us-east-1' },
    ...{ accessKey: ACCESS, secretKey: SECRET },
  });
  await client.makeBucket(bucket);
  const put = async (path: string, content: Buffer): Promise<void> => {
    await client.putObject(bucket, `library/${path}`, content);
  };
  for (const path of from ? filesIn(from) : []) await put(relative(from ?? '', path), readFileSync(path));
  const has = (path: string): Promise<boolean> =>
    client.statObject(bucket, `library/${path}`).then(
      () => true,
      () => false,
    );
  const settings = { endpoint: `http://127.0.0.1:${url.port}`, bucket, prefix: 'library', accessKeyId: ACCESS };
  const begin = (path: string): Promise<string> => client.initiateNewMultipartUpload(bucket, `library/${path}`, {});
  const pending = async (): Promise<string[]> => {
    const found = client.listIncompleteUploads(bucket, 'library/', true) as AsyncIterable<{ uploadId: string }>;
    return (await Array.fromAsync(found)).map(({ uploadId }) => uploadId);
  };
  return { kind: 's3', settings, secrets: { secretAccessKey: SECRET }, put, has, parts: { begin, pending } };
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** The settings of the folder of a place. */
export function insideOf({ kind, settings }: RemotePlace, folder: string): Record<string, unknown> {
  if (kind === 's3') return { ...settings, prefix: `${String(settings['prefix'])}/${folder}` };
  if (kind === 'webdav') return { ...settings, url: `${String(settings['url'])}/${folder}` };
  return { ...settings, path: `${String(settings['path'])}/${folder}` };
}

export const remotePlaces = { s3: s3Place, webdav: webdavPlace, sftp: sftpPlace };
