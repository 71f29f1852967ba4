// Chunks of the versions that answer next to this one while pods are replaced: each version's migration stores its
// immutable files, and a pod serves from the store what it lacks.
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import { type Coding, ENDINGS, readBuild, variantOf, type WebFile } from './files.ts';

const BUCKET = 'foyer-derived';
const VERSIONS = 'web/versions/';
const FILES = 'web/files';
const VERSION_FILE = '/_app/version.json';
/** This one and the one before. */
const KEPT = 2;
/** How long the list of the other versions is kept in memory. */
const LIST_MS = 30_000;

const Listed = z.record(
  z.string(),
  z.object({ type: z.string(), codings: z.array(z.enum(['identity', 'br', 'gzip'])) }),
);
/** Type and codings of the immutable files of a version, by path. */
type Listed = z.output<typeof Listed>;

const keyOf = (path: string, coding: Coding): string => `${FILES}${path}${ENDINGS[coding]}`;

/** Stores the immutable files of the build in `folder`, once a version, and removes those of versions before the last two. */
export async function publishBuild(objects: Objects, folder: string): Promise<void> {
  const files = readBuild(folder);
  const version = versionOf(files);
  if (!files || version === undefined) return; // a server without the app
  const key = `${VERSIONS}${version}.json`;
  const immutable = [...files].filter(([, file]) => file.immutable);
  for (const [path, { variants }] of immutable)
    for (const [coding, variant] of Object.entries(variants)) {
      const name = keyOf(path, coding as Coding);
      if (!(await objects.stat(BUCKET, name))) await objects.put(BUCKET, name, variant.bytes);
    }
  const listed: Listed = Object.fromEntries(
    immutable.map(([path, { type, variants }]) => [path, { type, codings: Object.keys(variants) as Coding[] }]),
  );
  await objects.put(BUCKET, key, JSON.stringify(listed)); // also for a version that comes back, which is the newest then
  await forgetOlder(objects);
}

function versionOf(files: ReadonlyMap<string, WebFile> | undefined): string | undefined {
  const bytes = files?.get(VERSION_FILE)?.variants.identity.bytes;
  return bytes && z.object({ version: z.string().regex(/^\w+$/) }).parse(JSON.parse(bytes.toString())).version;
}

async function forgetOlder(objects: Objects): Promise<void> {
  const versions = await newestFirst(objects);
  const [kept, gone] = [versions.slice(0, KEPT), versions.slice(KEPT)];
  if (gone.length === 0) return;
  const lists = await Promise.all(kept.map((key) => readList(objects, key)));
  const needed = new Set(lists.flatMap(namesOf));
  const old = (await Promise.all(gone.map((key) => readList(objects, key)))).flatMap(namesOf);
  await objects.remove(BUCKET, [...gone, ...old.filter((name) => !needed.has(name))]);
}

const namesOf = (listed: Listed): string[] =>
  Object.entries(listed).flatMap(([path, { codings }]) => codings.map((coding) => keyOf(path, coding)));

async function newestFirst(objects: Objects): Promise<string[]> {
  const found: { key: string; at: number }[] = [];
  for await (const { key, modifiedAt } of objects.list(BUCKET, VERSIONS)) found.push({ key, at: modifiedAt.getTime() });
  return found.sort((a, b) => b.at - a.at).map(({ key }) => key);
}

async function readList(objects: Objects, key: string): Promise<Listed> {
  const text = (await buffer(await objects.get(BUCKET, key))).toString();
  return Listed.parse(JSON.parse(text));
}

export interface OtherVersions {
  /** The file of another version; undefined where no version has it. */
  find: (path: string) => Promise<WebFile | undefined>;
}

/** Looks up the chunks of other versions. A path that no version lists costs nothing but the memory of the lists. */
export function otherVersions(objects: Objects, log: Log): OtherVersions {
  const known = new Map<string, Promise<WebFile>>();
  let lists: { at: number; merged: Promise<Listed> } | undefined;
  const merged = async (): Promise<Listed> => {
    const all = await Promise.all((await newestFirst(objects)).map((key) => readList(objects, key)));
    return Object.assign({}, ...all) as Listed;
  };
  const listed = (): Promise<Listed> => {
    if (!lists || Date.now() - lists.at > LIST_MS) lists = { at: Date.now(), merged: merged() };
    return lists.merged;
  };
  const load = async (path: string, { type, codings }: Listed[string]): Promise<WebFile> => {
    const read = async (coding: Coding): Promise<[Coding, ReturnType<typeof variantOf>]> => [
      coding,
      variantOf(await buffer(await objects.get(BUCKET, keyOf(path, coding)))),
    ];
    const variants = Object.fromEntries(await Promise.all(codings.map(read))) as WebFile['variants'];
    return { type, immutable: true, variants };
  };
  return {
    find: async (path) => {
      try {
        const entry = (await listed())[path];
        if (!entry) return undefined;
        const file = known.get(path) ?? load(path, entry);
        known.set(path, file);
        file.catch(() => known.delete(path));
        return await file;
      } catch (error) {
        log.warn({ err: error, path }, 'chunks of other versions cannot be read');
        return undefined;
      }
    },
  };
}
