import { basename, dirname } from 'node:path';
import loadSevenZip, { type SevenZipModuleFactory } from '7z-wasm';
import { type ArchiveEntry, judge, MOST_ENTRIES, UnsafeArchive } from './limits.ts';

// Its types describe another form of the module than the one that Node loads.
const sevenZip = loadSevenZip as unknown as SevenZipModuleFactory;
const MOST_LINES = MOST_ENTRIES * 30;
const MOUNT = '/in';

/** Runs 7-Zip, as WebAssembly, on one file that it can only read; nothing is unpacked to a disk. */
async function run(
  path: string,
  command: readonly string[],
  more: { stdout?: (byte: number) => void } = {},
): Promise<string[]> {
  const lines: string[] = [];
  const module = await sevenZip({
    stdin: () => 0,
    print: (line) => {
      if (lines.length >= MOST_LINES) throw new UnsafeArchive('too many entries');
      lines.push(line);
    },
    printErr: () => undefined,
    ...more,
  });
  module.FS.mkdir(MOUNT);
  module.FS.mount(module.NODEFS, { root: dirname(path) }, MOUNT);
  // With an empty password 7-Zip fails at encrypted entries instead of waiting for one.
  module.callMain([...command, '-p', '-bd', '-spd', '--', `${MOUNT}/${basename(path)}`]);
  return lines;
}

/** The entries of a RAR, 7z or TAR file, without its folders. Throws UnsafeArchive. */
export async function listSeven(path: string): Promise<ArchiveEntry[]> {
  const lines = await run(path, ['l', '-slt', '-ba']);
  const entries: ArchiveEntry[] = [];
  let members: Record<string, string> = {};
  const end = (): void => {
    const { Path: name, Folder: folder = '-', Size: size, 'Packed Size': packed } = members;
    members = {};
    if (name === undefined || folder === '+') return;
    const entry = { name: name.replaceAll('\\', '/'), size: Number(size ?? 0), packed: Number(packed ?? 0) };
    judge(entry);
    entries.push(entry);
    if (entries.length > MOST_ENTRIES) throw new UnsafeArchive('too many entries');
  };
  for (const line of lines) {
    const at = line.indexOf('Path = ');
    if (
      at >= 0 &&
      line
        .slice(0, at)
        .trim()
        .replace(/^\d+M Scan.*/, '') === ''
    ) {
      end();
      members = { Path: line.slice(at + 'Path = '.length) };
      continue;
    }
    const equals = line.indexOf(' = ');
    if (equals > 0) members[line.slice(0, equals)] = line.slice(equals + ' = '.length);
  }
  end();
  return entries;
}

/** Bytes of one entry, at most `most`. */
export async function readSeven(path: string, name: string, most: number): Promise<Buffer> {
  const bytes: number[] = [];
  const stdout = (byte: number): void => {
    if (bytes.length >= most) throw new UnsafeArchive('a description is too large');
    bytes.push(byte & 0xff);
  };
  await run(path, ['e', '-so', `-i!${name}`], { stdout });
  return Buffer.from(bytes);
}
