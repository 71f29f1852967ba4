import { appendFile, copyFile, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { newPlace, type Place } from './support.ts';

/** Events in the folders of two libraries of one type. Paths are indexes into the names of the type. */
type Step =
  | { do: 'put'; at: number; content: number; in: 0 | 1 }
  | { do: 'remove'; at: number; up: number; in: 0 | 1 }
  | { do: 'move'; at: number; to: number; up: number; in: 0 | 1; into: 0 | 1 }
  | { do: 'swap'; at: number; to: number; in: 0 | 1 }
  | { do: 'age'; in: 0 | 1 }
  | { do: 'watch'; up: number; in: 0 | 1 }
  | { do: 'scan'; mode: 'quick' | 'full' | 'deep'; in: 0 | 1 };

const NAMES: Readonly<Record<string, readonly string[]>> = {
  movies: [
    'Heat (1995)/Heat (1995).mkv',
    'Heat (1995)/Heat (1995) - 1080p.mkv',
    'Heat (1995)/Heat (1995) - 480p.mkv',
    'Heat (1995)/Trailers/Teaser.mkv',
    'Heat (1995)/Heat (1995).en.srt',
    'It (2017).en.srt',
    'Old/Heat (1995)/Heat (1995) - 720p.mkv',
    'Old/Box/Up (2009)/Up (2009).mkv',
    'Old/Box/Up (2009)/movie.nfo',
    'Up (2009)/Up (2009) cd1.mkv',
    'Up (2009)/Up (2009) cd2.mkv',
    'Up (2009).mkv',
    'It (2017).mkv',
    'Old/Box/It (2017)/It (2017)-trailer.mkv',
    'Heat (1995)/poster.jpg',
    'Old/Heat (1995)/poster.jpg',
    'Old/Heat (1995)/movie.nfo',
    'Old/Box/Up (2009)/Up (2009)-poster.jpg',
  ],
  shows: [
    'Firefly/Season 1/Firefly S01E01.mkv',
    'Firefly/Season 1/Firefly S01E02.mkv',
    'Firefly/Season 1/Firefly S01E02 - 720p.mkv',
    'Firefly/Season 2/Firefly S02E01.mkv',
    'Firefly/Extras/Making of.mkv',
    'Firefly/Season 1/Firefly S01E01.de.srt',
    'Old/Sci-Fi/Lost/Lost S03E03.mkv',
    'Old/Sci-Fi/Lost/Season 1/Lost S01E01.mkv',
    'Lost/Lost S01E01.mkv',
    'Lost/Lost S01E01.en.srt',
    'Lost/Lost S01E02.mkv',
    'Lost S02E01.mkv',
    'Lost/tvshow.nfo',
    'Lost/poster.jpg',
    'Old/Sci-Fi/Lost/tvshow.nfo',
    'Old/Sci-Fi/Lost/poster.jpg',
    'Old/Sci-Fi/Lost/Season 1/Lost S01E01.nfo',
    'Old/Sci-Fi/Lost/Season 1/Lost S01E01-thumb.jpg',
    'Firefly/fanart.jpg',
  ],
};

const side = fc.constantFrom<0 | 1>(0, 0, 0, 1);
const at = fc.nat(18);
const up = fc.nat(3);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put'), at, content: fc.nat(5), in: side }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove'), at, up, in: side }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('move'), at, to: at, up, in: side, into: side }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('swap'), at, to: at, in: side }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('age'), in: side }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('watch'), up, in: side }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('scan'), mode: fc.constantFrom('quick', 'full', 'deep'), in: side }),
  },
) as fc.Arbitrary<Step>;

const story = fc.array(step, { minLength: 5, maxLength: 25 });

/** Contents that players take for six films; each library of a run has them as its own. */
const VIDEOS = ['tiny.mkv', 'h264-base.mkv'];
const OLD = new Date(Date.now() - 86_400_000);

interface StoryState {
  places: [Place, Place];
  type: string;
  run: string;
  /** Paths that changed and that no watcher reported yet, by place. */
  changed: [string[], string[]];
  clock: number;
}

/** Plays the steps and scans both folders whole at the end. */
async function play(type: string, steps: readonly Step[]): Promise<[Place, Place]> {
  const settings = { guardMinimum: 100_000 };
  const places: [Place, Place] = [await newPlace(type, settings), await newPlace(type, settings)];
  const state: StoryState = { places, type, run: places[0].libraryId, changed: [[], []], clock: 0 };
  for (const [i, place] of places.entries())
    await write(state, join(place.path, `Keep${i} (2000)/Keep${i} S01E01.mkv`), 100 + i);
  for (const one of steps) await STEPS[one.do](state, one as never);
  // Two rounds: files that the first library lost may have come to the second.
  for (const place of places) await place.scan();
  for (const place of places) await place.scan();
  return places;
}

const STEPS: { [D in Step['do']]: (state: StoryState, step: Extract<Step, { do: D }>) => Promise<void> } = {
  async put(state, { at: index, content, in: where }) {
    const name = nameAt(state, index);
    const path = join(state.places[where].path, name);
    if (await canBeMade(path)) await write(state, path, content);
    state.changed[where].push(name);
  },
  async remove(state, { at: index, up: steps, in: where }) {
    const name = above(nameAt(state, index), steps);
    await rm(join(state.places[where].path, name), { recursive: true, force: true });
    state.changed[where].push(name);
  },
  async move(state, { at: index, to, up: steps, in: from, into }) {
    const [name, next] = [above(nameAt(state, index), steps), above(nameAt(state, to), steps)];
    const [source, target] = [join(state.places[from].path, name), join(state.places[into].path, next)];
    if (source === target || target.startsWith(`${source}/`)) return;
    if ((await kindOf(source)) === 'file' && extname(source) !== extname(target)) return; // it would be no media
    await mkdir(dirname(target), { recursive: true }).catch(() => undefined);
    await rename(source, target).catch(() => undefined);
    state.changed[from].push(name);
    state.changed[into].push(next);
  },
  async swap(state, { at: index, to, in: where }) {
    const { path } = state.places[where];
    const [one, other] = [join(path, nameAt(state, index)), join(path, nameAt(state, to))];
    if (one === other || (await kindOf(one)) !== 'file' || (await kindOf(other)) !== 'file') return;
    if (extname(one) !== extname(other)) return;
    await rename(one, `${one}.part`);
    await rename(other, one);
    await rename(`${one}.part`, other);
    state.changed[where].push(nameAt(state, index), nameAt(state, to));
  },
  async age(state, { in: where }) {
    await state.places[where].age();
  },
  /** A watcher reports some of the directories that changed, as they are now. */
  async watch(state, { up: skip, in: where }) {
    const place = state.places[where];
    const names = state.changed[where].splice(0).filter((_, i) => i % 4 !== skip);
    const paths = await Promise.all(names.map((name) => directoryOf(place.path, name)));
    const targets = [...new Set(paths)].map((path) => ({ folderId: place.folderId, path }));
    if (targets.length > 0) await place.scan({ trigger: 'watch', targets });
  },
  async scan(state, { mode, in: where }) {
    await state.places[where].scan({ mode });
  },
};

function nameAt({ type }: StoryState, index: number): string {
  const names = NAMES[type] ?? [];
  return names[index % names.length] ?? '';
}

/** Some levels up, never the library's folder itself. */
function above(name: string, steps: number): string {
  const parts = name.split('/');
  return parts.slice(0, Math.max(1, parts.length - Math.max(0, steps - 1))).join('/');
}

async function kindOf(path: string): Promise<'file' | 'folder' | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && (found.isDirectory() ? 'folder' : 'file');
}

async function canBeMade(path: string): Promise<boolean> {
  const made = await mkdir(dirname(path), { recursive: true }).then(
    () => true,
    () => false,
  );
  return made && (await kindOf(path)) !== 'folder';
}

async function directoryOf(root: string, name: string): Promise<string> {
  if ((await kindOf(join(root, name))) === 'folder') return name;
  return dirname(name) === '.' ? '' : dirname(name);
}

/** A film of that content, or the text of a sidecar. Its time is its own. */
async function write(state: StoryState, path: string, content: number): Promise<void> {
  await rm(path, { force: true });
  await mkdir(dirname(path), { recursive: true });
  if (path.endsWith('.nfo'))
    await writeFile(path, `<${state.type === 'shows' ? 'tvshow' : 'movie'}><title>Named ${content}</title></x>`);
  else if (!path.endsWith('.mkv')) await writeFile(path, `1\n00:00:01,000 --> 00:00:02,000\n${content}\n`);
  else {
    await copyFile(join(state.places[0].made, VIDEOS[content % VIDEOS.length] ?? ''), path);
    const id = Buffer.from(state.run.replaceAll('-', ''), 'hex');
    await appendFile(path, Buffer.concat([Buffer.from([0xec, 0x91]), id, Buffer.from([content])]));
  }
  state.clock += 5;
  const time = new Date(OLD.getTime() + state.clock * 1000);
  await utimes(path, time, time);
}

/** The library as it shows its folder: items with their files, without ids and without missing files. */
async function shownIn(place: Place): Promise<object> {
  const { db } = place.api.deps;
  const items = await db('items as i')
    .leftJoin('items as p', 'p.id', 'i.parent_id')
    .leftJoin('items as g', 'g.id', 'i.grandparent_id')
    .leftJoin('items as o', 'o.id', 'i.extra_of')
    .where('i.library_id', place.libraryId)
    .whereNull('i.trashed_at')
    .select('i.id', 'i.type', 'i.title', 'i.index_number', 'i.parent_index', 'i.extra_kind', 'i.availability', 'i.top')
    .select('i.size_bytes', 'i.local_artwork', { parent: 'p.title', grandparent: 'g.title', owner: 'o.title' })
    .select('i.parent_id', 'i.grandparent_id', 'i.extra_of');
  const files = await db('media_files as f')
    .where('f.library_id', place.libraryId)
    .whereNull('f.missing_since')
    .select('f.id', 'f.item_id', 'f.path', 'f.edition', 'f.edition_rank', 'f.part', 'f.size_bytes', 'f.absent_scan');
  const tracks = await db('media_streams').whereNotNull('external_path').select('file_id', 'external_path');
  return thereOf(items)
    .map(({ id, local_artwork, ...item }) => ({
      ...item,
      ...NO_IDS,
      artwork: Object.entries(local_artwork).map(([kind, one]) => [kind, (one as { path: string }).path]),
      files: files
        .filter((file) => file.item_id === id)
        .map(({ id: fileId, ...file }) => ({
          ...file,
          item_id: undefined,
          tracks: tracks.filter((track) => track.file_id === fileId).map((track) => track.external_path),
        }))
        .sort(byText),
    }))
    .sort(byText);
}

/** Ids are others in each library. */
const NO_IDS = { parent_id: undefined, grandparent_id: undefined, extra_of: undefined };

interface Kept {
  id: string;
  type: string;
  availability: string | null;
  parent_id: string | null;
  grandparent_id: string | null;
  extra_of: string | null;
}

/** Films and episodes that are there, shows and seasons that hold one of those, and extras of all these. */
function thereOf<K extends Kept>(items: readonly K[]): K[] {
  const leaves = items.filter(
    (item) => item.availability === null && item.extra_of === null && !['show', 'season'].includes(item.type),
  );
  const ids = new Set(leaves.flatMap((item) => [item.id, item.parent_id, item.grandparent_id]));
  return items.filter((item) => item.availability === null && ids.has(item.extra_of ?? item.id));
}

function byText(one: object, other: object): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

/** Plays random stories for that long. The seed repeats them. */
export async function checkStories(type: string, { seed, forMs }: { seed: number; forMs: number }): Promise<void> {
  const until = Date.now() + forMs;
  let state = 0;
  const check = async (steps: readonly Step[]): Promise<void> => {
    if (Date.now() > until) return; // also ends the search for the shortest story
    await checkStory(type, steps);
    state += 1;
  };
  await fc.assert(fc.asyncProperty(story, check), { seed, numRuns: MOST });
  expect(state, 'stories played').to.be.at.least(1);
}

const MOST = 10_000;

/** Plays one story, and compares the stored state of both folders with new libraries over them. */
async function checkStory(type: string, steps: readonly Step[]): Promise<void> {
  const places = await play(type, steps);
  const kept = [await shownIn(places[0]), await shownIn(places[1])];
  const lies = [...(await liesIn(places[0])), ...(await liesIn(places[1]))];
  expect(lies, 'kept and not there').to.deep.equal([]);
  await forget(places);
  const fresh = [await afresh(places[0], type), await afresh(places[1], type)];
  expect(kept).to.deep.equal(fresh);
}

/** The view of a new library over the same folder, once the old ones are forgotten. */
async function afresh({ api: { deps }, path }: Place, type: string): Promise<object> {
  const fresh = await newPlace(type);
  await deps
    .db('library_folders')
    .where({ id: fresh.folderId })
    .update({ path: path.split('/').at(-1) });
  await fresh.scan();
  const shown = await shownIn(fresh);
  await forget([fresh]);
  return shown;
}

/** Removes the rows of libraries, so that no file of them counts as moved. */
async function forget(places: readonly Place[]): Promise<void> {
  for (const { api, libraryId } of places) await api.deps.db('libraries').where({ id: libraryId }).delete();
}

/** Paths that are kept as there and are not. */
async function liesIn({ api, libraryId, path }: Place): Promise<string[]> {
  const root = dirname(path);
  const rows = await api.deps.db('media_files').where({ library_id: libraryId, missing_since: null }).select('path');
  const there = new Set(
    (await readdir(path, { recursive: true })).map((name) => `${path.slice(root.length + 1)}/${name}`),
  );
  return rows.map((row) => row.path).filter((name) => !there.has(name));
}
