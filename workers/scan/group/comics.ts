import type { BookTags } from '#platform/media.ts';
import { present } from '#workers/present.ts';
import { emptyBook } from '#workers/probe/books/texts.ts';
import { type NamedComic, readComicName } from '../names/comics.ts';
import { splitName } from '../names/kinds.ts';
import { isMedia } from '../names/media.ts';
import { tidy, titleKey } from '../names/title.ts';
import type { WalkedFile } from '../walk/types.ts';
import { describedBy, yearOf } from './books.ts';
import type { Draft, Drafting, Grouping, ItemKey } from './draft.ts';
import { artworkOf, draftFile, inside } from './local.ts';

/** Series and comics of one directory: by ComicInfo.xml, else by the names of file and folder. */
export function* groupComics(grouping: Grouping): Drafting {
  for (const file of grouping.files) {
    yield;
    if (!isMedia(grouping.library.type, file.name)) continue;
    const comic = comicOf(grouping, file);
    yield seriesDraft(grouping, comic);
    yield comicDraft(grouping, comic);
  }
  return [];
}

interface Comic {
  file: WalkedFile;
  series: string;
  number: string | undefined;
  volume: string | undefined;
  named: NamedComic;
  tags: BookTags;
}

function comicOf(grouping: Grouping, file: WalkedFile): Comic {
  const tags = grouping.inside?.get(file.name)?.book ?? emptyBook();
  const { stem } = splitName(file.name);
  const named = readComicName(stem);
  return {
    file,
    series: named.series ?? folderSeries(grouping) ?? tags.title ?? stem,
    number: named.number,
    volume: named.volume,
    ...seriesOf(tags),
    named,
    tags,
  };
}

/** What ComicInfo.xml says goes before the name. */
function seriesOf({ series }: BookTags): Partial<Pick<Comic, 'series' | 'number' | 'volume'>> {
  return series ? { series: series.title, ...present({ number: series.number, volume: series.volume }) } : {};
}

/** The series that the folder is named after. */
function folderSeries({ within }: Grouping): string | undefined {
  const folder = within.at(-1);
  return folder === undefined ? undefined : (readComicName(folder).series ?? tidy(folder));
}

const seriesKey = ({ series }: Comic): ItemKey => ({ type: 'comic-series', key: titleKey(series) });

function seriesDraft(grouping: Grouping, comic: Comic): Draft {
  const isOwnFolder = titleKey(folderSeries(grouping) ?? '') === titleKey(comic.series);
  return {
    ...seriesKey(comic),
    top: true,
    title: comic.series,
    ids: {},
    artwork: isOwnFolder ? artworkOf(grouping, '', true) : {},
    files: [],
  };
}

function comicDraft(grouping: Grouping, comic: Comic): Draft {
  const { file, number, volume, named, tags } = comic;
  const { authors, pages, publisher, direction, isbn } = tags;
  return {
    type: 'comic',
    key: `p:${inside(grouping.directory, file.name)}`,
    parent: seriesKey(comic),
    top: false,
    title: tags.title ?? named.title ?? titleOf(comic),
    ...yearOf(tags.date ?? named.year?.toString()),
    ...present({ index: wholeOf(number), parentIndex: wholeOf(volume) }),
    ids: present({ isbn }) as Record<string, string>,
    details: present({
      authors: authors.length > 0 ? authors.map((name) => ({ name })) : undefined,
      ...{ number, pages, publisher, readingDirection: direction },
    }),
    nfo: describedBy(tags, authors),
    artwork: artworkOf(grouping, file.name, false),
    files: [draftFile(grouping, file.name, { rank: 0 })],
  };
}

/** `Saga 12`, `Akira, Vol. 2`, or the name of the series for a comic on its own. */
function titleOf({ series, number, volume }: Comic): string {
  if (number !== undefined) return `${series} ${number}`;
  return volume === undefined ? series : `${series}, Vol. ${volume}`;
}

/** The whole part of a number; the printed one is in `details.number`. */
function wholeOf(number: string | undefined): number | undefined {
  const whole = Math.floor(Number.parseFloat(number ?? ''));
  return number === undefined || Number.isNaN(whole) ? undefined : whole;
}
