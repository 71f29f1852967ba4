// Opens some of the hostile files, and reports each verdict with its time and the memory until then.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPictures, PictureRefused } from '#platform/pictures.ts';
import { readContent } from '#workers/probe/content/pool.ts';
import { ProbeError, probeFile } from '#workers/probe/probe.ts';
import { groupDirectory } from '#workers/scan/group/index.ts';
import { nfoText, readNfo } from '#workers/scan/names/nfo.ts';
import { type HostileFile, hostileMedia, type Way } from './hostile-media.ts';

export interface Verdict {
  number: number;
  way: Way;
  /** The container, or why there is none. */
  word: string;
  ms: number;
  memoryMb: number;
}

const [folder, first, step, end] = process.argv.slice(2).map((word, at) => (at ? Number(word) : word)) as [
  string,
  number,
  number,
  number,
];
const pictures = createPictures(undefined);
const RULES = { minSide: 1, maxSide: 20_000, maxPixels: 1e8, maxFrames: 1000, maxMs: 600_000 } as const;
const PICTURES = ['png', 'jpeg', 'webp', 'avif', 'gif', 'tiff'] as const;
const MAKE = { format: 'webp', width: 320, height: 320, fit: 'inside' } as const;
const TYPES = ['movies', 'shows', 'videos', 'music', 'photos', 'books', 'comics', 'games', 'courses', 'files'];

/** The fault of a file that is refused; any other error ends this process, and the test. */
function faultOf(error: unknown): string {
  if (error instanceof ProbeError) return error.fault;
  if (error instanceof PictureRefused) return error.reason;
  throw error;
}

async function drawn(bytes: Buffer, accepts: readonly string[]): Promise<string> {
  const rules = { ...RULES, accepts } as Parameters<typeof pictures.take>[1];
  const made = await pictures.take({ bytes, type: 'image/png' }, rules, MAKE);
  return made.type;
}

async function probed({ way, name, bytes }: HostileFile): Promise<string> {
  const path = join(folder, `${first}-${name}`);
  writeFileSync(path, bytes);
  const word = await probeFile(path, { as: way as 'photo' }).then(({ file }) => file.container, faultOf);
  if (way === 'photo') await readContent('preview', path).catch(faultOf);
  if (way === 'book' || way === 'comic') await readContent('cover', path).catch(faultOf);
  return word;
}

function grouped(bytes: Buffer): string {
  const list = JSON.parse(bytes.toString()) as string[];
  const files = list.map((name) => ({ name, size: 1, mtimeMs: 0, inode: '' }));
  let items = 0;
  for (const type of TYPES)
    for (const within of [[], list.slice(0, 2)])
      items += groupDirectory({ directory: within.join('/'), within, files, library: { type, mergeVersions: true } })
        .drafts.length;
  return items > 0 ? 'items' : 'no items';
}

async function verdictOn(file: HostileFile): Promise<string> {
  if (file.way === 'names') return grouped(file.bytes);
  if (file.way === 'nfo') return readNfo(nfoText(file.bytes))?.root ?? 'no NFO';
  if (file.way === 'svg') return drawn(file.bytes, ['svg']).catch(faultOf);
  return file.way === 'picture' ? drawn(file.bytes, PICTURES).catch(faultOf) : probed(file);
}

for (let number = first; number < end; number += step) {
  const file = await hostileMedia(number);
  process.send?.({ begun: number, way: file.way });
  const began = performance.now();
  const word = await verdictOn(file);
  const ms = performance.now() - began;
  const memoryMb = process.resourceUsage().maxRSS / 1024;
  process.send?.({ number, way: file.way, word, ms, memoryMb } satisfies Verdict);
}
process.exit(0);
