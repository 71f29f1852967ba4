// Makes packs on any machine from public dumps, for `foyer spine`.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, open, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { deltaOf, packRows } from './delta.ts';
import { type Head, Manifest, PackRefused, rawKey, sourceNames, trustedKeysOf } from './manifest.ts';
import { openPack, type Ranges } from './pack.ts';
import { sortRows } from './sort-rows.ts';
import { BadRow, type Row } from './work.ts';
import { writePack } from './write-pack.ts';

const LICENCE: Record<string, string> = {
  wikidata: 'CC0-1.0',
  musicbrainz: 'CC0-1.0',
  openlibrary: 'Open Library data, public domain',
};

/** The options, the rows or the key cannot make a pack. */
export class BuildRefused extends Error {}

export interface BuildOptions {
  input: string[];
  output: string;
  name: string;
  packVersion: string;
  /** `name:day` of each dump. */
  source: string[];
  language: string[];
  key: string;
  keyName: string;
  builtAt?: string;
  /** An older pack: the new one is the delta from it. */
  since?: string;
}

/** Writes a new key for signing, and prints the text that a server trusts. */
export async function makeKey(file: string): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { flag: 'wx', mode: 0o600 });
  await chmod(file, 0o600);
  process.stdout.write(`${rawKey(publicKey).toString('base64')}\n`);
}

/** Writes the pack, and prints its hash. Throws `BuildRefused` for rows, keys and options that a pack cannot have. */
export async function buildPack(options: BuildOptions): Promise<void> {
  const privateKey = await readFile(options.key, 'utf8');
  const older = options.since === undefined ? undefined : await olderPack(options.since, privateKey);
  const described = Manifest.pick({
    name: true,
    version: true,
    base: true,
    languages: true,
    builtAt: true,
    sources: true,
  }).safeParse({
    ...{ name: options.name, version: options.packVersion, base: older?.head.manifest.version },
    ...{ languages: options.language, builtAt: options.builtAt ?? new Date().toISOString() },
    sources: options.source.map(sourceOf),
  });
  if (!described.success)
    throw new BuildRefused(`these options make no pack: ${described.error.issues[0]?.path.join('.')}`);
  const works = sortRows(linesOf(options.input), { folder: tmpdir() });
  const rows: AsyncIterable<Row> = older ? deltaOf(packRows(older.read, older.head), works) : works;
  const signer = { privateKey, name: options.keyName };
  try {
    const written = await writePack(options.output, rows, { described: described.data, signer });
    process.stdout.write(`${JSON.stringify({ version: options.packVersion, ...written })}\n`);
  } catch (error) {
    throw error instanceof BadRow ? new BuildRefused(error.message) : error;
  } finally {
    await older?.close();
  }
}

function sourceOf(text: string): object {
  const [name = '', dumpedOn = ''] = text.split(':');
  if (!sourceNames.some((one) => one === name)) throw new BuildRefused(`a source is one of ${sourceNames.join(', ')}`);
  return { name, dumpedOn, licence: LICENCE[name] };
}

async function* linesOf(files: readonly string[]): AsyncGenerator<string> {
  for (const file of files) {
    const input = file === '-' ? process.stdin : createReadStream(file);
    yield* createInterface({ input, crlfDelay: Infinity });
  }
}

interface Older {
  head: Head;
  read: Ranges;
  close: () => Promise<void>;
}

/** A pack that the same key signed. */
async function olderPack(path: string, privateKey: string): Promise<Older> {
  const file = await open(path);
  const read: Ranges = async (start, end) => {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    return buffer.subarray(0, bytesRead);
  };
  try {
    const own = rawKey(createPublicKey(createPrivateKey(privateKey))).toString('base64');
    return { head: await openPack(read, trustedKeysOf([own])), read, close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error instanceof PackRefused ? new BuildRefused(`${path}: ${error.message}`) : error;
  }
}
