import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Each entry is one file under any of its names. */
const FILES = [['model.bin'], ['config.json'], ['tokenizer.json'], ['vocabulary.txt', 'vocabulary.json']];

export type FoundFolder =
  | { folder: string; sha256: string }
  | { fault: 'model-missing' | 'model-invalid'; message: string };

/**
 * The folder of a model in the layout of CTranslate2. Its digest is compared with the given one, or with that of
 * `model.bin.sha256` next to it.
 */
export async function findModelFolder({
  modelsDir,
  name,
  sha256,
}: {
  modelsDir: string;
  name: string;
  sha256: string | undefined;
}): Promise<FoundFolder> {
  const folder = join(modelsDir, name);
  const missing: string[] = [];
  for (const names of FILES) if (!(await hasOne(folder, names))) missing.push(names.join(' or '));
  if (missing.length === FILES.length) return { fault: 'model-missing', message: `no model at ${name}` };
  if (missing.length > 0) return { fault: 'model-invalid', message: `${name} lacks ${missing.join(', ')}` };
  const stated = sha256 ?? (await statedDigest(folder));
  const found = await digestOf(join(folder, 'model.bin'));
  if (stated && stated.toLowerCase() !== found)
    return { fault: 'model-invalid', message: `model.bin of ${name} has the SHA-256 ${found}, not ${stated}` };
  return { folder, sha256: found };
}

/** Equal for as long as no file of the folder changes. */
export async function stateOfFolder({ modelsDir, name }: { modelsDir: string; name: string }): Promise<string> {
  const folder = join(modelsDir, name);
  const names = (await readdir(folder).catch((): string[] => [])).sort();
  const states = names.map(async (file) => {
    const found = await stat(join(folder, file)).catch(() => undefined);
    return `${file}:${found?.size}:${found?.mtimeMs}`;
  });
  return (await Promise.all(states)).join('/');
}

async function hasOne(folder: string, names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    const isThere = await access(join(folder, name)).then(
      () => true,
      () => false,
    );
    if (isThere) return true;
  }
  return false;
}

/** The digest of `model.bin.sha256`, alone or as sha256sum writes it. */
async function statedDigest(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, 'model.bin.sha256'), 'utf8').catch(() => '');
  return /^[0-9a-f]{64}/i.exec(text.trim())?.[0];
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
