import type { BookTags, MusicTags } from '#platform/media.ts';
import { present } from '#workers/present.ts';
import { emptyBook } from '#workers/probe/books/texts.ts';
import { type NamedBook, readBookFolder, readBookName } from '../names/books.ts';
import { splitName } from '../names/kinds.ts';
import { isMedia } from '../names/media.ts';
import { discOf } from '../names/music.ts';
import { emptyNfo, type Nfo } from '../names/nfo-fields.ts';
import { titleKey } from '../names/title.ts';
import type { WalkedFile } from '../walk/types.ts';
import type { Draft, Drafting, Grouping, ItemKey } from './draft.ts';
import { artworkOf, draftFile } from './local.ts';

const UNKNOWN_AUTHOR = 'Unknown author';
/** Of several files of one book the first is opened. */
const FORMATS = ['epub', 'azw3', 'mobi', 'azw', 'fb2', 'pdf', 'djvu', 'txt'];

interface Volume {
  type: 'book' | 'audiobook';
  title: string;
  author: string;
  tags: BookTags;
  files: { file: WalkedFile; part?: number }[];
}

/**
 * Authors, books and audiobooks of one directory. Files of one title and author are its formats; the audio files of a
 * folder are the parts of one audiobook, unless each holds a whole one with its chapters.
 */
export function* groupBooks(grouping: Grouping): Drafting {
  const media = grouping.files.filter(({ name }) => isMedia(grouping.library.type, name));
  const sound = media.filter(({ name }) => isSound(name));
  const volumes = media.filter(({ name }) => !isSound(name)).map((file) => bookOf(grouping, file));
  yield;
  const read = [...volumes, ...audiobooksOf(grouping, sound)];
  const books = Map.groupBy(read, (volume) => bookKey(volume).key + volume.type);
  for (const editions of books.values()) {
    const [first] = editions as [Volume];
    yield authorDraft(first);
    yield bookDraft(grouping, editions);
  }
  return [];
}

const isSound = (name: string): boolean => !FORMATS.includes(splitName(name).extension);

/** Folders around the files; those of discs do not count. */
function foldersOf({ within }: Grouping): readonly string[] {
  const last = within.at(-1) ?? '';
  return discOf(last) === undefined || TITLED_VOLUME.test(last) ? within : within.slice(0, -1);
}

/** `Vol 1 - Title` is a book of a series, `Vol 1` a part of one book. */
const TITLED_VOLUME = /^vol(?:ume)?\.?[\s._#-]{0,3}\d{1,2}[\s._:-]{1,3}\S/i;

function bookOf(grouping: Grouping, file: WalkedFile): Volume {
  const tags = grouping.inside?.get(file.name)?.book ?? NO_TAGS;
  const named = namedAlone(foldersOf(grouping), file.name);
  return {
    type: 'book',
    title: tags.title ?? named.title,
    author: tags.authors[0] ?? named.author ?? UNKNOWN_AUTHOR,
    tags: {
      ...present({ series: named.series, date: named.year === undefined ? undefined : String(named.year) }),
      ...tags,
    },
    files: [{ file }],
  };
}

const NO_TAGS = emptyBook();
const WHOLE_MS = 3_600_000;

function audiobooksOf(grouping: Grouping, sound: readonly WalkedFile[]): Volume[] {
  const isWhole = (file: WalkedFile): boolean => {
    const inside = grouping.inside?.get(file.name);
    return /\.m4b$/i.test(file.name) || ((inside?.chapters.length ?? 0) > 1 && (inside?.durationMs ?? 0) > WHOLE_MS);
  };
  const byAlbum = Map.groupBy(sound, (file) => {
    const { album, title } = grouping.inside?.get(file.name)?.music ?? {};
    return isWhole(file) ? `whole ${titleKey(title ?? album ?? file.name)}` : `parts ${titleKey(album ?? '')}`;
  });
  return [...byAlbum].map(([kind, files]) => audiobookOf(grouping, files, kind.startsWith('parts')));
}

function audiobookOf(grouping: Grouping, files: readonly WalkedFile[], inParts: boolean): Volume {
  const ordered = files.toSorted((a, b) => orderOf(grouping, a) - orderOf(grouping, b) || (a.name < b.name ? -1 : 1));
  const [first] = ordered as [WalkedFile];
  const music = grouping.inside?.get(first.name)?.music;
  const named = namedBy(foldersOf(grouping), first.name, inParts);
  return {
    type: 'audiobook',
    title: music?.album ?? music?.title ?? named.title,
    author: authorsOf(music)[0] ?? named.author ?? UNKNOWN_AUTHOR,
    tags: withNamed(named, tagsOf(music)),
    files: ordered.map((file, i) => ({ file, ...(ordered.length > 1 && { part: i + 1 }) })),
  };
}

/** What the tags leave open comes from the name. */
function withNamed({ series, year, narrators }: NamedBook, tags: BookTags): BookTags {
  const date = year === undefined ? undefined : String(year);
  return {
    ...present({ series, date }),
    ...tags,
    narrators: tags.narrators.length > 0 ? tags.narrators : (narrators ?? []),
  };
}

/** A book in parts has the name of its folder. */
function namedBy(folders: readonly string[], name: string, inParts: boolean): NamedBook {
  const folder = inParts ? folders.at(-1) : undefined;
  return folder === undefined ? namedAlone(folders, name) : readBookFolder(folder, folders.slice(0, -1));
}

/** Names of files that do not name the book. */
const NAMELESS = /^(?:audio ?(?:file|book)?|book|full|complete)$/i;

/** A file of its own; the folder of the same title says the series, its number and the narrators. */
function namedAlone(folders: readonly string[], name: string): NamedBook {
  const { stem } = splitName(name);
  const named = readBookName(stem, folders);
  if (folders.length < 2) return named;
  const around = readBookFolder(folders.at(-1) ?? '', folders.slice(0, -1));
  if (NAMELESS.test(stem)) return around;
  return titleKey(around.title) === titleKey(named.title) ? { ...named, ...around } : named;
}

function authorsOf(music: MusicTags | undefined): readonly string[] {
  if (!music) return [];
  return music.albumArtists.length > 0 ? music.albumArtists : music.artists;
}

function orderOf({ inside }: Grouping, { name }: WalkedFile): number {
  const { disc = 1, track = 0 } = inside?.get(name)?.music ?? {};
  return disc * 10_000 + track;
}

/** Taggers of audiobooks name the narrator as composer. */
function tagsOf(music: MusicTags | undefined): BookTags {
  if (!music) return NO_TAGS;
  return {
    ...NO_TAGS,
    authors: [...authorsOf(music)],
    narrators: music.composers,
    genres: music.genres,
    ...present({ date: music.date, publisher: music.labels[0], sortTitle: music.sorts.album }),
  };
}

const authorKey = ({ author }: Volume): ItemKey => ({ type: 'author', key: titleKey(author) });
const bookKey = ({ type, title, author, tags }: Volume): ItemKey => ({
  type,
  key: `${titleKey(author)}|${titleKey(title)}|${tags.series?.volume ?? ''}`,
});

function authorDraft(volume: Volume): Draft {
  return { ...authorKey(volume), top: false, title: volume.author, ids: {}, artwork: {}, files: [] };
}

function bookDraft(grouping: Grouping, editions: readonly Volume[]): Draft {
  const rank = ({ files: [first] }: Volume): number => FORMATS.indexOf(splitName(first?.file.name ?? '').extension);
  const ranked = editions.toSorted((a, b) => rank(a) - rank(b));
  const [book] = ranked as [Volume];
  const { tags } = book;
  const authors = tags.authors.length > 0 ? tags.authors : [book.author];
  return {
    ...bookKey(book),
    parent: authorKey(book),
    top: true,
    title: book.title,
    ...yearOf(tags.date),
    ids: present({ isbn: tags.isbn }) as Record<string, string>,
    details: {
      authors: authors.map((name) => ({ name })),
      ...(tags.narrators.length > 0 && { narrators: tags.narrators.map((name) => ({ name })) }),
      ...present({ ...pick(tags), originalLanguage: tags.language }),
    },
    nfo: describedBy(tags, authors),
    artwork: artworkOf(grouping, book.files[0]?.file.name ?? '', editions.length === 1),
    files: ranked.flatMap(({ files }, order) =>
      files.map(({ file, part }) =>
        draftFile(grouping, file.name, {
          rank: order,
          ...(ranked.length > 1 && { edition: splitName(file.name).extension.toUpperCase() }),
          ...(part !== undefined && { part, parts: files.length }),
        }),
      ),
    ),
  };
}

const pick = ({ publisher, isbn, series, pages, direction }: BookTags): object => ({
  ...{ publisher, isbn, pages },
  series: series && { title: series.title, ...present({ number: series.number }) },
  readingDirection: direction,
});

/** What a book says, in the shape of an NFO file. */
export function describedBy(tags: BookTags, authors: readonly string[]): Nfo {
  const people = (role: 'author' | 'narrator' | 'illustrator' | 'translator', names: readonly string[]) =>
    names.map((name) => ({ role, name }));
  return {
    ...emptyNfo('embedded'),
    ...present({ plot: tags.description, sortTitle: tags.sortTitle, ageRating: tags.ageRating }),
    genres: tags.genres,
    studios: tags.publisher === undefined ? [] : [tags.publisher],
    credits: [
      ...people('author', authors),
      ...people('narrator', tags.narrators),
      ...people('illustrator', tags.illustrators),
      ...people('translator', tags.translators),
    ],
  };
}

/** YYYY gives a year alone, YYYY-MM-DD the day too. */
export function yearOf(date: string | undefined): Pick<Draft, 'year' | 'releasedOn'> {
  if (date === undefined) return {};
  const year = Number(date.slice(0, 4));
  return date.length === 'YYYY-MM-DD'.length && !Number.isNaN(Date.parse(date)) ? { year, releasedOn: date } : { year };
}
