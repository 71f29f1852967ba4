import { extrasFolder } from './extras.ts';
import { numbersOf } from './numbers.ts';
import { isEpisodeFolder, isInnerFolder, numberedSeason, seasonOf, seasonWithin } from './seasons.ts';
import { type Context, numbersIn, showOfFile } from './show-numbers.ts';
import { tagsOf } from './tags.ts';
import { type Named, readName, titleKey } from './title.ts';

const MAX = 300;

/** Reads the folders from the library's down to the file. */
export function contextOf(folders: readonly string[]): Context {
  const context: Context = {};
  let at = folders.length - 1;
  for (; at > 0; at -= 1) if (!takeInner(context, folders, at)) break;
  const folder = folders[at];
  if (folder === undefined) return context;
  return { ...context, ...showFolder(context, folder) };
}

/** Reads a folder inside the show's: of extras, of a season, of a disc or of a single episode. */
function takeInner(context: Context, folders: readonly string[], at: number): boolean {
  const folder = folders[at] ?? '';
  const parent = folders[at - 1] ?? '';
  const extra = context.season === undefined ? extrasFolder(folder) : undefined;
  if (extra !== undefined) context.extra = extra;
  else if (isEpisodeFolder(folder, parent)) context.release ??= folder;
  else return takeSeason(context, folder, parent);
  return true;
}

function takeSeason(context: Context, folder: string, parent: string): boolean {
  const season = seasonIn(folder, parent);
  if (season !== undefined) context.season ??= season;
  else if (isRelease(folder)) context.release ??= folder;
  else return isInnerFolder(folder);
  return true;
}

function seasonIn(folder: string, parent: string): number | undefined {
  return seasonOf(folder) ?? numberedSeason(folder) ?? seasonOfShow(folder, parent);
}

/** `Show Season 1` in the folder `Show`. */
function seasonOfShow(folder: string, parent: string): number | undefined {
  const within = seasonWithin(folder);
  return within?.season !== undefined && titleKey(readName(within.before).title) === titleKey(readName(parent).title)
    ? within.season
    : undefined;
}

/** `Show.2199` is a title. */
const NUMBER_LAST = /[a-z][._]\d{3,4}$/i;

/** A folder named like a single episode. */
function isRelease(folder: string): boolean {
  const numbers = numbersOf(folder.slice(0, MAX), { placed: false, grouped: false, from: 0 });
  if (numbers?.end === folder.length && NUMBER_LAST.test(folder)) return false;
  return numbers?.date !== undefined || (numbers?.season !== undefined && numbers.number !== undefined);
}

/** `[Group] Show - 01-12 [720p]` contains the episodes of a show. */
function batchOf(folder: string): Named | undefined {
  if (!folder.startsWith('[')) return undefined;
  const found = numbersIn({}, folder.slice(0, MAX));
  return found?.numbers.numberEnd === undefined ? undefined : showOfFile(found);
}

/**
 * The show's own folder. `Show.S02.1080p` is a show and its season in one, `Show.S02E03.1080p` a show and an episode.
 */
function showFolder(context: Context, folder: string): Context {
  if (isRelease(folder)) {
    const show = showOfFile(numbersIn({}, folder.slice(0, MAX)));
    return { release: context.release ?? folder, ...(show && { show }) };
  }
  const whole = WHOLE.test(folder) ? seasonOf(folder) : undefined;
  if (whole !== undefined) return { season: context.season ?? whole, fallback: readName(folder) };
  const batch = batchOf(folder);
  return batch ? { show: batch } : namedFolder(context, folder);
}

/** A folder of a season outside a show's. */
const WHOLE = /^\S{1,20}[\s._-]{0,2}\d{1,4}\s?(?:$|[([])/;

/** `Show - The Complete Series`. */
const COMPLETE = /[\s._(-]{1,4}(?:the[\s._])?complete[\s._](?:series|collection|show)\)?/i;

function namedFolder({ season }: Context, folder: string): Context {
  const found = seasonWithin(folder);
  const within = season === undefined || found?.season === undefined ? found : undefined;
  if (!within || tagsOf(within.before).length === 0) return { show: readName(folder.replace(COMPLETE, '')) };
  return { show: readName(within.before), ...(within.season === undefined ? {} : { season: within.season }) };
}
