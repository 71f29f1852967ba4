import type { PhotoTags } from '#platform/media.ts';
import { pictureExtensions, rawExtensions } from '#platform/media-extensions.ts';
import { present } from '#workers/present.ts';
import { splitName } from '../names/kinds.ts';
import { isMedia } from '../names/media.ts';
import { emptyNfo } from '../names/nfo-fields.ts';
import { timeInName } from '../names/photos.ts';
import type { WalkedFile } from '../walk/types.ts';
import type { Draft, Drafting, Grouping, ItemKey } from './draft.ts';
import { draftFile, inside } from './local.ts';

/** The moving part of a live photo is shorter. */
const LIVE_MS = 6000;

/**
 * Photos and videos of one directory. A picture, its RAW file and its moving part are one photo; a folder is an album.
 */
export function* groupPhotos(grouping: Grouping): Drafting {
  const media = grouping.files.filter(({ name }) => isMedia(grouping.library.type, name));
  if (media.length === 0) return [];
  const album = albumDraft(grouping);
  if (album) yield album;
  const byStem = Map.groupBy(media, ({ name }) => splitName(name).stem.toLowerCase());
  for (const files of byStem.values()) {
    for (const own of apart(grouping, files)) yield mediumDraft(grouping, own, album);
  }
  return [];
}

const extensionOf = ({ name }: WalkedFile): string => splitName(name).extension;

/** Files of one name that are one photo; others are on their own. The first is shown. */
function apart(grouping: Grouping, files: readonly WalkedFile[]): WalkedFile[][] {
  const rank = (file: WalkedFile): number => pictureExtensions.indexOf(extensionOf(file));
  const pictures = files.filter((file) => rank(file) >= 0).toSorted((a, b) => rank(a) - rank(b));
  const moving = files.filter((file) => rank(file) < 0);
  const isLive = (file: WalkedFile): boolean => (grouping.inside?.get(file.name)?.durationMs ?? LIVE_MS) < LIVE_MS;
  const [main, ...others] = pictures;
  if (!main) return moving.map((file) => [file]);
  const belongs = [...others.filter((file) => rawExtensions.includes(extensionOf(file))), ...moving.filter(isLive)];
  const rest = [...others, ...moving].filter((file) => !belongs.includes(file));
  return [[main, ...belongs], ...rest.map((file) => [file])];
}

function albumDraft({ within, directory }: Grouping): Draft | undefined {
  const name = within.at(-1);
  if (name === undefined) return undefined;
  return { type: 'photo-album', key: `d:${directory}`, top: false, title: name, ids: {}, artwork: {}, files: [] };
}

function mediumDraft(grouping: Grouping, files: readonly WalkedFile[], album: ItemKey | undefined): Draft {
  const [main] = files as readonly [WalkedFile];
  const photo = grouping.inside?.get(main.name)?.photo;
  return {
    key: `p:${inside(grouping.directory, main.name)}`,
    ...(album && { parent: { type: album.type, key: album.key } }),
    top: true,
    title: splitName(main.name).stem,
    ...takenOf(grouping, main, photo),
    ids: {},
    ...(isPicture(main) ? pictureOf(grouping, files, photo) : { type: 'video', artwork: {} }),
    files: files.map(({ name }, rank) =>
      draftFile(grouping, name, { rank, ...(rank > 0 && { edition: splitName(name).extension.toUpperCase() }) }),
    ),
  };
}

const isPicture = (file: WalkedFile): boolean => pictureExtensions.includes(extensionOf(file));

/** The picture itself is its thumbnail. */
function pictureOf(
  { directory }: Grouping,
  files: readonly WalkedFile[],
  photo: PhotoTags | undefined,
): Pick<Draft, 'type' | 'details' | 'nfo' | 'artwork'> {
  const [main] = files as readonly [WalkedFile];
  const isLive = files.some((file) => !isPicture(file));
  return {
    type: 'photo',
    details: detailsOf(photo, isLive),
    nfo: { ...emptyNfo('embedded'), ...present({ plot: photo?.description }), tags: photo?.keywords ?? [] },
    artwork: { thumb: { path: inside(directory, main.name), mtimeMs: Math.trunc(main.mtimeMs) } },
  };
}

function detailsOf(photo: PhotoTags | undefined, live: boolean): Record<string, unknown> {
  const { width, height, camera, lens, exposure, place, offsetMinutes } = photo ?? {};
  return present({
    aspect: width && height ? Math.round((width / height) * 1000) / 1000 : undefined,
    live: live || undefined,
    takenOffsetMinutes: offsetMinutes,
    ...{ camera, lens, exposure, place },
  });
}

/** By the camera's clock, else the name, else the time of the file. A clock without an offset is that of the server. */
function takenOf(
  grouping: Grouping,
  { name, mtimeMs }: WalkedFile,
  photo: PhotoTags | undefined,
): Pick<Draft, 'takenAt'> {
  const local = photo?.takenLocal ?? timeInName(splitName(name).stem);
  if (local === undefined) return { takenAt: new Date(mtimeMs).toISOString() };
  const asUtc = Date.parse(`${local}Z`);
  if (Number.isNaN(asUtc)) return { takenAt: new Date(mtimeMs).toISOString() };
  const minutes = photo?.offsetMinutes ?? offsetIn(grouping.timeZone ?? 'UTC', asUtc);
  return { takenAt: new Date(asUtc - minutes * 60_000).toISOString() };
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** Minutes that the zone was ahead of UTC when its clocks showed this time. */
function offsetIn(zone: string, local: number): number {
  const clock =
    clocks.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  clocks.set(zone, clock);
  const ahead = (at: number): number => Date.parse(`${clock.format(at).replace(' ', 'T')}Z`) - at;
  return Math.round(ahead(local - ahead(local)) / 60_000);
}
