// The files of a speech model, from the object store into a folder. A model is one folder, in the layout of CTranslate2.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ListedObject, Objects } from '#platform/objects.ts';

const BUCKET = 'foyer-models';
const WEIGHTS = 'model.bin';
/** The names of the files that a model has; each entry is a list of names of which one is enough. */
const NEEDED: readonly (readonly string[])[] = [
  [WEIGHTS],
  ['config.json'],
  ['tokenizer.json'],
  ['vocabulary.txt', 'vocabulary.json'],
];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const FILES_MAX = 64;

export interface WantedModel {
  name: string;
  /** Before the names of its files in the bucket. */
  prefix: string;
  /** SHA-256 of model.bin. */
  sha256: string;
  /** The folder of all models. */
  dir: string;
}

/** Why there is no model; the operator reports the reason. */
export class ModelFault extends Error {
  readonly reason: 'ModelMissing' | 'ModelInvalid' | 'ObjectsUnreachable';

  constructor(reason: ModelFault['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

const folderOf = ({ prefix }: Pick<WantedModel, 'prefix'>): string => (prefix.endsWith('/') ? prefix : `${prefix}/`);

/** The objects directly below the prefix. */
export async function listModel(objects: Pick<Objects, 'list'>, wanted: WantedModel): Promise<ListedObject[]> {
  const folder = folderOf(wanted);
  const found: ListedObject[] = [];
  try {
    for await (const object of objects.list(BUCKET, folder)) {
      if (NAME.test(object.key.slice(folder.length))) found.push(object);
      if (found.length > FILES_MAX)
        throw new ModelFault('ModelInvalid', `${BUCKET}/${folder} has more than ${FILES_MAX} files`);
    }
  } catch (error) {
    if (error instanceof ModelFault) throw error;
    if ((error as { code?: string }).code === 'NoSuchBucket') return [];
    throw new ModelFault('ObjectsUnreachable', `the object store does not list ${BUCKET}: ${(error as Error).message}`);
  }
  return found;
}

/** Brings and checks the model; it appears whole or not at all. Throws ModelFault. */
export async function bringModel(objects: Pick<Objects, 'list' | 'get'>, wanted: WantedModel): Promise<void> {
  const target = join(wanted.dir, wanted.name);
  if (existsSync(target) && (await digestOf(join(target, WEIGHTS))) === wanted.sha256) return;
  const folder = folderOf(wanted);
  const names = (await listModel(objects, wanted)).map(({ key }) => key.slice(folder.length));
  const absent = NEEDED.find((some) => !some.some((name) => names.includes(name)));
  if (absent)
    throw new ModelFault('ModelMissing', `the bucket ${BUCKET} has no ${folder}${absent.join(' or ')}: upload it`);
  const draft = join(wanted.dir, `.${wanted.name}.part`);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  const copied = names.map((name) => copy(objects, `${folder}${name}`, join(draft, name)));
  await Promise.all(copied);
  const digest = await digestOf(join(draft, WEIGHTS));
  if (digest !== wanted.sha256) {
    await rm(draft, { recursive: true, force: true });
    const message = `${folder}${WEIGHTS} in the bucket ${BUCKET} has the SHA-256 ${digest}, and spec.subtitles.modelObjects.sha256 is ${wanted.sha256}: upload the right file, or correct the digest`;
    throw new ModelFault('ModelInvalid', message);
  }
  await rm(target, { recursive: true, force: true });
  await rename(draft, target);
}

async function copy(objects: Pick<Objects, 'get'>, key: string, file: string): Promise<void> {
  try {
    await pipeline(await objects.get(BUCKET, key), createWriteStream(file));
  } catch (error) {
    throw new ModelFault('ObjectsUnreachable', `${BUCKET}/${key} could not be copied: ${(error as Error).message}`);
  }
}

async function digestOf(file: string): Promise<string | undefined> {
  if (!existsSync(file)) return undefined;
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
