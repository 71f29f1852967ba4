import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readMedia, statMedia } from '#platform/media-bytes.ts';
import { NFO_BYTES, type Nfo, nfoText, readNfo } from '../names/nfo.ts';
import { seasonOf } from '../names/seasons.ts';
import { isSharedPicture, seasonPicture } from '../names/sidecars.ts';
import { readName, titleKey } from '../names/title.ts';
import { isRemote, remoteAt } from '../remote-roots.ts';
import type { SavedFiles } from '../store/saved-files.ts';
import type { WalkedFile } from '../walk/types.ts';
import { companionsOf } from './companions.ts';
import type { Draft, Grouping } from './draft.ts';
import { artworkOf, inside, nfoFile } from './local.ts';
import { isMusicPicture, musicPictures } from './music-pictures.ts';

const SHARED_NFO: Readonly<Record<string, readonly string[]>> = {
  movie: ['movie.nfo', 'video_ts.nfo'],
  episode: [],
  video: [],
};
const SHOW_NFO = 'tvshow.nfo';
const REMEMBERED = 200;

export interface NfoIssue {
  path: string;
  detail: string;
}

interface Reading {
  /** Follows links; undefined outside the library. */
  resolve: (absolute: string) => Promise<string | undefined>;
  saved: SavedFiles;
}

/** Reads NFO files, and the pictures of a show's own folder above the directory of its episodes. One for each scan. */
export class Decoration {
  readonly issues: NfoIssue[] = [];
  readonly #folder: { root: string; storageId: string };
  readonly #root: string;
  readonly #resolve: Reading['resolve'];
  readonly #saved: SavedFiles;
  readonly #folders = new Map<string, Promise<WalkedFile[]>>();

  constructor(folder: { root: string; storageId: string }, { resolve, saved }: Reading) {
    this.#folder = folder;
    this.#root = folder.root;
    this.#resolve = resolve;
    this.#saved = saved;
  }

  async decorate(draft: Draft, grouping: Grouping): Promise<void> {
    if (draft.type === 'show') await this.#show(draft, grouping);
    else if (draft.type === 'album' || draft.type === 'artist')
      draft.artwork = await musicPictures(draft, grouping, (directory) => this.#list(directory));
    else if (draft.type === 'season') await this.#season(draft, grouping);
    else await this.#leaf(draft, grouping);
  }

  async #leaf(draft: Draft, grouping: Grouping): Promise<void> {
    const file = nfoOf(draft, grouping);
    const nfo = file && (await this.#nfo(inside(grouping.directory, file.name)));
    if (nfo) take(draft, nfo);
  }

  async #show(draft: Draft, grouping: Grouping): Promise<void> {
    for (let up = 0; up < Math.min(3, grouping.within.length); up += 1) {
      const name = grouping.within.at(-1 - up) ?? '';
      const directory = up === 0 ? grouping.directory : grouping.directory.split('/').slice(0, -up).join('/');
      const files = up === 0 ? grouping.files : await this.#list(directory);
      const nfo = companionsOf(files, grouping.library.type).byLowName.get(SHOW_NFO);
      if (!nfo && titleKey(readName(name).title) !== titleKey(draft.title)) continue;
      draft.artwork = artworkOf({ ...grouping, directory, files }, '', true);
      const read = nfo && (await this.#nfo(inside(directory, nfo.name)));
      if (read) take(draft, read);
      return;
    }
  }

  /** Pictures of the season's own folder, before those that the folder of the show has for it. */
  async #season(draft: Draft, grouping: Grouping): Promise<void> {
    const isOwn = seasonOf(grouping.within.at(-1) ?? '') === draft.index;
    const above = grouping.directory.split('/').slice(0, -1).join('/');
    const directory = isOwn ? above : grouping.directory;
    const files = isOwn ? (grouping.within.length > 1 ? await this.#list(above) : []) : grouping.files;
    for (const { name, mtimeMs } of files) {
      const picture = seasonPicture(name);
      if (picture?.season !== draft.index || !picture) continue;
      draft.artwork[picture.kind] = { path: inside(directory, name), mtimeMs: Math.trunc(mtimeMs) };
    }
    if (isOwn) draft.artwork = { ...draft.artwork, ...artworkOf(grouping, '', true) };
  }

  #list(directory: string): Promise<WalkedFile[]> {
    const known = this.#folders.get(directory);
    if (known) {
      this.#folders.delete(directory);
      this.#folders.set(directory, known); // the most recently used ones stay
      return known;
    }
    const [oldest] = this.#folders.keys();
    if (oldest !== undefined && this.#folders.size >= REMEMBERED) this.#folders.delete(oldest);
    const listed = this.#listed(directory).catch(() => []);
    this.#folders.set(directory, listed);
    return listed;
  }

  async #listed(directory: string): Promise<WalkedFile[]> {
    const files = await localFiles(join(this.#root, directory));
    return this.#saved.without(this.#folder.storageId, directory, files);
  }

  async #nfo(path: string): Promise<Nfo | undefined> {
    try {
      const absolute = await this.#resolve(join(this.#root, path));
      if (absolute === undefined) return this.#bad(path, 'a link that leads out of the library');
      if ((await statMedia(absolute)).size > NFO_BYTES) return this.#bad(path, 'too large');
      const bytes = await readMedia(absolute);
      if (await this.#saved.isWritten(bytes)) return undefined;
      return readNfo(nfoText(bytes)) ?? this.#bad(path, 'not an NFO');
    } catch {
      return this.#bad(path, 'unreadable');
    }
  }

  #bad(path: string, detail: string): undefined {
    this.issues.push({ path, detail });
    return undefined;
  }
}

/** The NFO file of a film, an episode or a video. */
export function nfoOf({ type, alone, files: [first] }: Draft, grouping: Grouping): WalkedFile | undefined {
  return first && nfoFile(grouping, first.walked.name, alone ? (SHARED_NFO[type] ?? []) : []);
}

/** A file with only a page address identifies the film and adds nothing else. */
function take(draft: Draft, nfo: Nfo): void {
  if (nfo.root === 'address') draft.ids = { ...draft.ids, ...nfo.ids };
  else draft.nfo = nfo;
}

/** Files that describe the whole folder: few, however many it contains. */
async function localFiles(absolute: string): Promise<WalkedFile[]> {
  if (isRemote(absolute)) return remoteFiles(absolute);
  const names = (await readdir(absolute)).filter(isShared);
  return Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs, ino } = await stat(join(absolute, name));
      return { name, size, mtimeMs, inode: String(ino) };
    }),
  );
}

const isShared = (name: string): boolean =>
  name.toLowerCase() === SHOW_NFO || isSharedPicture(name) || seasonPicture(name) !== undefined || isMusicPicture(name);

/** Most entries of a remote folder that are looked at for these files. */
const MOST_ENTRIES = 10_000;

async function remoteFiles(path: string): Promise<WalkedFile[]> {
  const { reader, path: inside } = await remoteAt(path);
  const { entries } = await reader.list(inside, { most: MOST_ENTRIES });
  return entries
    .filter(({ name, kind }) => kind === 'file' && isShared(name))
    .map(({ name, size, modifiedMs }) => ({ name, size, mtimeMs: modifiedMs, inode: '' }));
}
