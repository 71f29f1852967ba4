import type { Values } from '#areas/library-types/public.ts';
import { pictureExtensions } from '#platform/media-extensions.ts';
import { present } from '#workers/present.ts';
import type { Draft, Grouping, ItemKey } from '../group/draft.ts';
import { artworkOf, draftFile, inside } from '../group/local.ts';
import { splitName } from '../names/kinds.ts';
import { titleKey } from '../names/title.ts';
import type { WalkedFile } from '../walk/types.ts';
import type { OwnRules } from './rules.ts';

export interface NamedFile {
  file: WalkedFile;
  values: Values;
}

interface Holder extends ItemKey {
  title: string;
  index?: number;
}

interface Placed extends NamedFile {
  holders: readonly Holder[];
  key: string;
  type: string;
}

/** Items of the files that naming rules fit; what holds them comes first. */
export function* named(grouping: Grouping, own: OwnRules, files: readonly NamedFile[]): Generator<Draft> {
  const placed = files.map((one) => placeOf(grouping, own, one));
  const seen = new Set<string>();
  for (const { holders } of placed) {
    for (const [level, holder] of holders.entries()) {
      const name = `${holder.type} ${holder.key}`;
      if (!seen.has(name)) yield holderDraft(holder, holders[level - 1]);
      seen.add(name);
    }
  }
  const items = Map.groupBy(placed, ({ type, key }) => `${type} ${key}`);
  for (const versions of items.values()) yield itemDraft(grouping, versions, placed.length === 1);
}

function placeOf(grouping: Grouping, own: OwnRules, one: NamedFile): Placed {
  const holders = holdersOf(grouping, own, one.values);
  const type = leafType(own.levels.at(-1)?.bases ?? [], one.file.name);
  return { ...one, holders, type, key: keyOf(grouping, one, holders.at(-1)) };
}

/** Photos and books have two kinds of files. */
function leafType(bases: readonly string[], name: string): string {
  const [first = 'file', second = first] = bases;
  const { extension } = splitName(name);
  if (first === 'photo') return pictureExtensions.includes(extension) ? first : second;
  if (first === 'book') return SOUND.includes(extension) ? second : first;
  return first;
}

const SOUND = ['mp3', 'flac', 'm4a', 'm4b', 'mp4', 'aac', 'ogg', 'oga', 'opus', 'wav', 'wma', 'ape'];

const UNKNOWN = 'Unknown';

/** What holds the item, from the top: by the pattern, else the folders. A season is named by its number. */
function holdersOf({ within }: Grouping, { levels }: OwnRules, values: Values): Holder[] {
  const types = levels.slice(0, -1).flatMap(({ bases }) => bases.slice(0, 1));
  const text = (name: string): string | undefined => values[name] as string | undefined;
  const parent = text('parent') ?? within.at(-1);
  const top = text('grandparent') ?? (types[1] === 'season' ? parent : within.at(-2));
  return chainOf(types, types.length < 2 ? [parent] : [top, parent], values['index2'] as number | undefined);
}

/** The number belongs to what holds the item directly, below something else. */
function chainOf(
  types: readonly string[],
  titles: readonly (string | undefined)[],
  number: number | undefined,
): Holder[] {
  const holders: Holder[] = [];
  for (const [level, type] of types.entries()) {
    const above = holders.at(-1);
    const own = type === 'season' ? seasonOf(above, number ?? 1) : holderOf(type, titles[level] ?? UNKNOWN, above);
    const isNumbered = number !== undefined && level > 0 && level === types.length - 1;
    holders.push(isNumbered ? { ...own, index: number } : own);
  }
  return holders;
}

/** Keys of shows are those of the base, so that files that no rule fits join them. */
function holderOf(type: string, title: string, above: Holder | undefined): Holder {
  const own = type === 'show' ? `${titleKey(title)}|` : titleKey(title);
  return { type, key: above ? `${above.key}|${own}` : own, title };
}

const seasonOf = (show: Holder | undefined, index: number): Holder => ({
  ...{ type: 'season', key: `${show?.key ?? ''}/s${index}`, index },
  title: index === 0 ? 'Specials' : `Season ${index}`,
});

/** Files of one title and year, or of one number, are one item; others are known by their place. */
function keyOf({ directory, library }: Grouping, { file, values }: NamedFile, holder: Holder | undefined): string {
  const { title, year, index, date } = values;
  const within = holder ? `${holder.key}/` : '';
  if (index !== undefined && holder) return `${within}e${index}`;
  if (date !== undefined) return `${within}d${date}|${titleKey(String(title ?? ''))}`;
  const isKnown = title !== undefined && year !== undefined && library.mergeVersions;
  return isKnown ? `${within}${titleKey(String(title))}|${year}` : `p:${inside(directory, splitName(file.name).stem)}`;
}

function holderDraft({ type, key, title, index }: Holder, above: Holder | undefined): Draft {
  return {
    ...{ type, key, title, top: false, ids: {}, artwork: {}, files: [] },
    ...(above && { parent: { type: above.type, key: above.key } }),
    ...present({ index }),
  };
}

const keyOnly = ({ type, key }: Holder): ItemKey => ({ type, key });

function itemDraft(grouping: Grouping, versions: readonly Placed[], alone: boolean): Draft {
  const [{ holders, values, file, type, key }] = versions as [Placed];
  const [parent, grandparent] = holders.toReversed();
  const parts = versions.filter((one) => one.values['part'] !== undefined).length;
  return {
    ...{ type, key, top: false, ids: {} },
    ...(parent && { parent: keyOnly(parent) }),
    ...(grandparent && { grandparent: keyOnly(grandparent) }),
    title: titleOf(grouping, values, file.name),
    ...timesOf(values),
    ...present({ index: values['index'] as number | undefined, parentIndex: values['index2'] as number | undefined }),
    ...(values['language'] !== undefined && { details: { originalLanguage: values['language'] } }),
    ...customOf(values),
    artwork: artworkOf(grouping, file.name, alone && holders.length === 0 && grouping.within.length > 0),
    files: versions.map(({ file: { name }, values: own }, rank) => {
      const part = own['part'] as number | undefined;
      const edition = (own['edition'] as string | undefined) ?? editionOf(versions, name);
      return draftFile(grouping, name, {
        rank: part === undefined ? rank : 0,
        ...present({ edition: part === undefined ? edition : undefined }),
        ...(part !== undefined && parts > 1 && { part, parts }),
      });
    }),
  };
}

const editionOf = (versions: readonly Placed[], name: string): string | undefined =>
  versions.length > 1 ? splitName(name).extension.toUpperCase() : undefined;

/** By the pattern, else what the file says, else the day, else the name of the file. */
function titleOf({ inside: read }: Grouping, { title, date }: Values, name: string): string {
  const { music, book } = read?.get(name) ?? {};
  return String(title ?? music?.title ?? book?.title ?? date ?? splitName(name).stem);
}

function timesOf({ year, date }: Values): Pick<Draft, 'year' | 'releasedOn'> {
  if (date === undefined) return year === undefined ? {} : { year: Number(year) };
  return { releasedOn: String(date), year: Number(year ?? String(date).slice(0, 4)) };
}

const CUSTOM = 'custom.';

function customOf(values: Values): Pick<Draft, 'custom'> {
  const own = Object.entries(values).filter(([name]) => name.startsWith(CUSTOM));
  return own.length === 0
    ? {}
    : { custom: Object.fromEntries(own.map(([name, value]) => [name.slice(CUSTOM.length), value])) };
}
