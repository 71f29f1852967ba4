// ComicInfo.xml, as ComicRack defined it and readers of comics know it.
import type { ItemValues } from '#platform/item-values.ts';
import { namesIn, type SavedItem } from './values.ts';
import { documentOf, group, line, type Xml } from './xml.ts';

/** Names in one element, where a comma parts them. */
const listed = (names: readonly string[] | undefined): string =>
  (names ?? []).map((name) => name.replaceAll(',', ' ').trim()).join(', ');

function dayOf({ releasedOn, year: alone }: ItemValues): Xml[] {
  const [year, month, day] = (releasedOn ?? String(alone ?? '')).split('-');
  return [line('Year', year), line('Month', month && Number(month)), line('Day', day && Number(day))];
}

/** The ComicInfo.xml of a comic. */
export function comicInfoOf({ values, number }: SavedItem): Buffer {
  return documentOf(
    group(
      'ComicInfo',
      [
        line('Title', values.title),
        line('Series', values.series?.title),
        line('Number', values.series?.number ?? number ?? values.index),
        line('Volume', values.parentIndex),
        line('Summary', values.overview),
        ...dayOf(values),
        line('Writer', listed(values.authors ?? namesIn(values, 'author', 'writer'))),
        line('Penciller', listed(namesIn(values, 'illustrator'))),
        line('Translator', listed(namesIn(values, 'translator'))),
        line('Publisher', values.publisher),
        line('Genre', listed(values.genres)),
        line('Tags', listed(values.tags)),
        line('LanguageISO', values.originalLanguage),
        line('AgeRating', values.ageRating),
        line('GTIN', values.isbn),
        line('Manga', values.readingDirection === 'rtl' ? 'YesAndRightToLeft' : undefined),
      ],
      { 'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance' },
    ),
  );
}
