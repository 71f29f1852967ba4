import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Attributes, Client, FileEntry, SFTPWrapper, Stats } from 'ssh2';
import { judgedSocket } from '#platform/outbound-agent.ts';
import { withoutTail } from '#platform/text.ts';
import type { SftpSettings } from '../kinds/settings.ts';
import { judgeOf, networkFault, type Reach } from './addresses.ts';
import { type DraftWays, placeByDraft } from './placing.ts';
import { promised } from './promised.ts';
import { Absent, joined, type Listed, Occupied, type Space, StorageFault, type StorageReader } from './reader.ts';
import { makeFolderOf, moveOf, putOf } from './sftp-place.ts';

const READY_MS = 10_000;
const PIECE_BYTES = 256 << 10;
/** Concurrent requests of one read. */
const PIECES = 8;

interface Session {
  sftp: SFTPWrapper;
  end: () => void;
}

/** A folder of an SSH server. One connection serves all calls and is opened again when it breaks. */
export function sftpReader(reach: Reach, settings: SftpSettings, secrets: Record<string, string>): StorageReader {
  let session: Promise<Session> | undefined;
  const open = (): Promise<Session> => {
    session ??= openSession({ reach, settings, secrets }, () => {
      session = undefined;
    }).catch((error: unknown) => {
      session = undefined;
      throw error;
    });
    return session;
  };
  const at = (path: string): string => `/${joined(settings.path, path)}`;
  const run = async <T>(work: (sftp: SFTPWrapper) => Promise<T>): Promise<T> => {
    const { sftp } = await open();
    return work(sftp).catch((error: unknown) => {
      throw faultOf(error);
    });
  };
  const moves: Pick<DraftWays, 'makeFolder' | 'put' | 'move'> = {
    makeFolder: (path) => run((sftp) => makeFolderOf(sftp, at(path))),
    put: (path, body, file) => run((sftp) => putOf(sftp, at(path), { body, file })),
    move: (from, to) => run((sftp) => moveOf(sftp, at(from), at(to))),
  };
  const reader: StorageReader = {
    place: (path, file, options) => placeByDraft({ ...reader, ...moves }, path, { ...file, ...options }),
    list: (path, { most }) => run((sftp) => listOf(sftp, at(path), most)),
    stat: (path) =>
      run(async (sftp) => {
        const found = await promised<Stats>((done) => sftp.stat(at(path), done));
        return toListed(path.slice(path.lastIndexOf('/') + 1), found);
      }).catch((error: unknown) => {
        if (error instanceof Absent) return undefined;
        throw error;
      }),
    read: (path, range) => run((sftp) => readOf(sftp, at(path), range)),
    write: (path, content, { replace = false } = {}) =>
      run((sftp) => writeOf(sftp, at(path), { content, flags: replace ? 'w' : 'wx' })),
    remove: (path) =>
      run((sftp) =>
        promised<void>((done) => sftp.unlink(at(path), (error) => done(error ?? undefined, undefined))),
      ).catch((error: unknown) => {
        if (!(error instanceof Absent)) throw error;
      }),
    space: () => run((sftp) => spaceOf(sftp, at(''))),
    close: async () => (await session?.catch(() => undefined))?.end(),
  };
  return reader;
}

interface Target {
  reach: Reach;
  settings: SftpSettings;
  secrets: Record<string, string>;
}

/** `ended` runs when the connection is gone. */
async function openSession({ reach, settings, secrets }: Target, ended: () => void): Promise<Session> {
  const judge = judgeOf(reach, settings.host);
  const socket = judgedSocket(judge, settings);
  const { Client: SshClient } = createRequire(import.meta.url)('ssh2') as typeof import('ssh2');
  const client = new SshClient();
  const end = (): void => {
    client.end();
    socket.destroy();
  };
  client.on('close', ended);
  try {
    await connected(socket);
    await authenticated(client, { socket, settings, secrets });
    const sftp = await promised<SFTPWrapper>((done) => client.sftp(done));
    client.on('error', end);
    return { sftp, end };
  } catch (error) {
    client.on('error', () => undefined);
    end();
    throw faultOf(error);
  }
}

async function connected(socket: Socket): Promise<void> {
  await once(socket, 'connect', { signal: AbortSignal.timeout(READY_MS) });
  socket.setNoDelay(true); // a request is small, and would wait for the acknowledgement of the one before
  socket.on('error', () => undefined); // reported by the client
}

interface Login {
  socket: Socket;
  settings: SftpSettings;
  secrets: Record<string, string>;
}

function authenticated(client: Client, { socket, settings, secrets }: Login): Promise<void> {
  const { password, privateKey, passphrase } = secrets;
  let seen: string | undefined;
  const verify = (key: Buffer): boolean => {
    seen = createHash('sha256').update(key).digest('base64');
    seen = withoutTail(seen, '=');
    return withoutTail(settings.hostKeySha256 ?? '', '=') === seen;
  };
  return new Promise((resolve, reject) => {
    client.once('ready', () => resolve());
    client.once('error', (error: Error & { level?: string }) => reject(keyFault(settings, seen) ?? loginFault(error)));
    try {
      client.connect({
        ...{ sock: socket, username: settings.username, readyTimeout: READY_MS, hostVerifier: verify },
        ...{ keepaliveInterval: 15_000, keepaliveCountMax: 2, tryKeyboard: false },
        ...(password !== undefined && { password }),
        ...(privateKey !== undefined && { privateKey }),
        ...(passphrase !== undefined && { passphrase }),
      });
    } catch {
      reject(login('the private key cannot be read'));
    }
  });
}

const login = (message: string): StorageFault =>
  new StorageFault('authentication-failed', message, { stage: 'authenticate' });

/** The observed key is public, and the admin compares it with that of the host. */
function keyFault({ hostKeySha256 }: SftpSettings, seen: string | undefined): StorageFault | undefined {
  if (seen === undefined || seen === withoutTail(hostKeySha256 ?? '', '=')) return undefined;
  const message = hostKeySha256 === undefined ? 'the host key is not known yet' : 'the host has another key';
  return new StorageFault('host-key-changed', `${message}: SHA256:${seen}`, { stage: 'authenticate' });
}

function loginFault(error: Error & { level?: string }): unknown {
  return error.level === 'client-authentication' ? login('the host refuses the user') : error;
}

async function listOf(sftp: SFTPWrapper, path: string, most: number): Promise<{ entries: Listed[]; cut: boolean }> {
  const found = await promised<FileEntry[]>((done) => sftp.readdir(path, done));
  const own = found.filter(({ filename }) => !['.', '..'].includes(filename) && !filename.includes('/'));
  const entries: Listed[] = [];
  for (const { filename, attrs } of own.slice(0, most)) {
    if (typeOf(attrs) !== LINK) entries.push(toListed(filename, attrs));
    else {
      const target = await promised<Stats>((done) => sftp.stat(`${path}/${filename}`, done)).catch(() => undefined);
      entries.push(
        target ? { ...toListed(filename, target), symlink: true } : { ...toListed(filename, attrs), readable: false },
      );
    }
  }
  return { entries, cut: own.length > most };
}

/** Bits of the mode that are the type of a file. */
const typeOf = ({ mode }: Attributes): number => mode & 0o170_000;
const LINK = 0o120_000;
const FOLDER = 0o040_000;
const FILE = 0o100_000;

function toListed(name: string, found: Attributes): Listed {
  const type = typeOf(found);
  const kind = type === FOLDER ? 'directory' : type === FILE ? 'file' : 'other';
  return { name, kind, size: kind === 'file' ? found.size : 0, modifiedMs: found.mtime * 1000, readable: true };
}

async function readOf(
  sftp: SFTPWrapper,
  path: string,
  { start, length }: { start: number; length: number },
): Promise<Buffer> {
  const handle = await promised<Buffer>((done) => sftp.open(path, 'r', done));
  const bytes = Buffer.alloc(length);
  const offsets = Array.from({ length: Math.ceil(length / PIECE_BYTES) }, (_, i) => i * PIECE_BYTES);
  let end = length;
  const lane = async (): Promise<void> => {
    for (let from = offsets.shift(); from !== undefined; from = offsets.shift()) {
      const want = Math.min(PIECE_BYTES, length - from);
      const got = await readPiece(sftp, handle, { bytes, from, want, at: start + from });
      if (got < want) end = Math.min(end, from + got);
    }
  };
  try {
    await Promise.all(Array.from({ length: PIECES }, lane));
    return bytes.subarray(0, end);
  } finally {
    sftp.close(handle, () => undefined);
  }
}

interface Piece {
  bytes: Buffer;
  from: number;
  want: number;
  at: number;
}

/** Servers may answer with fewer bytes than requested. */
async function readPiece(sftp: SFTPWrapper, handle: Buffer, { bytes, from, want, at }: Piece): Promise<number> {
  let got = 0;
  while (got < want) {
    const n = await promised<number>((done) =>
      sftp.read(handle, bytes, from + got, want - got, at + got, (error, count) =>
        done(isEnd(error) ? undefined : error, count ?? 0),
      ),
    );
    if (n === 0) break;
    got += n;
  }
  return got;
}

const isEnd = (error: Error | undefined): boolean => error !== undefined && 'code' in error && error.code === 1;

async function writeOf(
  sftp: SFTPWrapper,
  path: string,
  { content, flags }: { content: Buffer; flags: 'w' | 'wx' },
): Promise<void> {
  const handle = await promised<Buffer>((done) => sftp.open(path, flags, done)).catch(async (error: unknown) => {
    const there = await promised<Stats>((done) => sftp.stat(path, done)).catch(() => undefined);
    throw flags === 'wx' && there ? new Occupied('a file is there already') : error;
  });
  try {
    if (content.length > 0)
      await promised<void>((done) =>
        sftp.write(handle, content, 0, content.length, 0, (error) => done(error ?? undefined, undefined)),
      );
  } finally {
    await promised<void>((done) => sftp.close(handle, (error) => done(error ?? undefined, undefined)));
  }
}

/** Undefined for servers without the extension of OpenSSH. */
async function spaceOf(sftp: SFTPWrapper, path: string): Promise<Space | undefined> {
  try {
    const found = await promised<{ f_frsize: number; f_blocks: number; f_bavail: number }>((done) =>
      sftp.ext_openssh_statvfs(path, done),
    );
    return { totalBytes: found.f_blocks * found.f_frsize, freeBytes: found.f_bavail * found.f_frsize };
  } catch {
    return undefined;
  }
}

/** Status codes of SFTP. */
const NO_FILE = 2;
const DENIED = 3;

const isKnown = (error: unknown): boolean =>
  error instanceof StorageFault || error instanceof Absent || error instanceof Occupied;

function faultOf(error: unknown): unknown {
  if (isKnown(error) || !(error instanceof Error)) return error;
  const code = 'code' in error ? error.code : undefined;
  if (code === NO_FILE) return new Absent('no such file');
  if (code === DENIED) return new StorageFault('permission-denied', 'the host refuses this path');
  if (error.name === 'AbortError')
    return new StorageFault('timeout', 'the host does not answer in time', { stage: 'connect' });
  return networkFault(error) ?? new StorageFault('host-unreachable', 'the connection failed', { stage: 'connect' });
}
