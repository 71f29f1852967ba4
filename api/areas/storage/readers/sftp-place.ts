// Whole files on an SSH server: written in pieces that overlap, synced, and renamed.
import type { Readable } from 'node:stream';
import type { SFTPWrapper, Stats } from 'ssh2';
import { promised } from './promised.ts';
import { type NewFile, Occupied } from './reader.ts';

const PIECE_BYTES = 128 << 10;
const NO_SUCH_FILE = 2;
/** Writes that the server has not answered yet. */
const PIECES = 8;

interface Written {
  body: Readable;
  file: Pick<NewFile, 'modifiedAt'>;
}

export async function putOf(sftp: SFTPWrapper, path: string, { body, file }: Written): Promise<void> {
  const handle = await promised<Buffer>((done) => sftp.open(path, 'w', done));
  try {
    await writeAll(sftp, handle, body);
    await synced(sftp, handle);
  } finally {
    await promised<void>((done) => sftp.close(handle, (error) => done(error ?? undefined, undefined)));
  }
  const { modifiedAt: time } = file;
  // Servers that keep their own time take the file all the same.
  if (time) await promised<void>((done) => sftp.utimes(path, time, time, () => done(undefined, undefined)));
}

async function writeAll(sftp: SFTPWrapper, handle: Buffer, body: Readable): Promise<void> {
  const running = new Set<Promise<void>>();
  let at = 0;
  for await (const piece of piecesOf(body)) {
    const from = at;
    const write = promised<void>((done) =>
      sftp.write(handle, piece, 0, piece.length, from, (error) => done(error ?? undefined, undefined)),
    ).finally(() => running.delete(write));
    write.catch(() => undefined); // thrown below
    running.add(write);
    at += piece.length;
    if (running.size >= PIECES) await Promise.race(running);
  }
  await Promise.all(running);
}

async function* piecesOf(body: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of body as AsyncIterable<Buffer>)
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
}

/** Servers without the extension of OpenSSH write when they want. */
async function synced(sftp: SFTPWrapper, handle: Buffer): Promise<void> {
  try {
    await promised<void>((done) => sftp.ext_openssh_fsync(handle, (error) => done(error ?? undefined, undefined)));
  } catch {
    return;
  }
}

/** Some servers rename over a file, so its absence is checked first; OpenSSH itself refuses. */
export async function moveOf(sftp: SFTPWrapper, from: string, to: string): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    try {
      await promised<Stats>((done) => sftp.lstat(to, done));
      return true;
    } catch (error) {
      if ((error as { code?: number }).code === NO_SUCH_FILE) return false;
      throw error; // the file may be there
    }
  };
  if (await isThere()) throw new Occupied('a file is there already');
  try {
    await promised<void>((done) => sftp.rename(from, to, (error) => done(error ?? undefined, undefined)));
  } catch (error) {
    throw (await isThere()) ? new Occupied('a file is there already') : error;
  }
}

export const makeFolderOf = (sftp: SFTPWrapper, path: string): Promise<void> =>
  promised<void>((done) => sftp.mkdir(path, (error) => done(error ?? undefined, undefined)));
