import type { BookTags } from '#platform/media.ts';
import { present } from '#workers/present.ts';
import { elementsOf, type XmlElement, xmlText } from '../archive/xml.ts';
import { openZip } from '../archive/zip.ts';
import { dateOf, emptyBook, isbnOf, languageOf, lineOf, namesOf, plainText } from './texts.ts';

const CONTAINER = 'META-INF/container.xml';

/** The package document of an EPUB 2 or 3, without its text. Throws if there is none. */
export async function readEpub(path: string): Promise<BookTags> {
  const zip = await openZip(path);
  try {
    const container = await zip.read(CONTAINER);
    const root = container && elementsOf(xmlText(container)).find(({ name }) => name === 'rootfile');
    const opf = await zip.read(
      root?.attributes['full-path'] ?? zip.entries.find(({ name }) => name.endsWith('.opf'))?.name ?? '',
    );
    if (!opf) throw new Error('an EPUB without a package document');
    return tagsOf(elementsOf(xmlText(opf)));
  } finally {
    zip.close();
  }
}

function tagsOf(elements: readonly XmlElement[]): BookTags {
  const of = (name: string): XmlElement[] => elements.filter((one) => one.name === name && one.parent === 'metadata');
  const text = (name: string): string | undefined => of(name)[0]?.text;
  const metas = of('meta');
  return {
    ...emptyBook(),
    ...present({
      title: titleOf(of('title'), metas),
      sortTitle: lineOf(contentOf(metas, 'calibre:title_sort')),
      language: languageOf(text('language')),
      publisher: lineOf(text('publisher')),
      date: dateOf(text('date')),
      isbn: of('identifier')
        .map(({ text: id }) => isbnOf(id))
        .find((id) => id !== undefined),
      description: plainText(text('description')),
      series: seriesOf(metas),
      direction: elements.some(
        ({ name, attributes }) => name === 'spine' && attributes['page-progression-direction'] === 'rtl',
      )
        ? ('rtl' as const)
        : undefined,
    }),
    ...peopleOf([...of('creator'), ...of('contributor')], metas),
    genres: namesOf(of('subject').map(({ text: subject }) => subject)),
  };
}

const contentOf = (metas: readonly XmlElement[], name: string): string | undefined =>
  metas.find(({ attributes }) => attributes['name'] === name)?.attributes['content'];

/** EPUB 3 refines an element by a `meta` that names its id. */
const refinedBy = (metas: readonly XmlElement[], id: string | undefined, property: string): string | undefined =>
  id === undefined
    ? undefined
    : metas.find(({ attributes }) => attributes['refines'] === `#${id}` && attributes['property'] === property)?.text;

function titleOf(titles: readonly XmlElement[], metas: readonly XmlElement[]): string | undefined {
  const main = titles.find(({ attributes }) => refinedBy(metas, attributes['id'], 'title-type') === 'main');
  return lineOf((main ?? titles[0])?.text);
}

function seriesOf(metas: readonly XmlElement[]): BookTags['series'] {
  const collection = metas.find(({ attributes }) => attributes['property'] === 'belongs-to-collection');
  const title = lineOf(contentOf(metas, 'calibre:series') ?? collection?.text);
  const number =
    contentOf(metas, 'calibre:series_index') ?? refinedBy(metas, collection?.attributes['id'], 'group-position');
  return title === undefined ? undefined : { title, ...present({ number: numberText(number) }) };
}

/** Calibre writes the third volume as 3.0. */
function numberText(text: string | undefined): string | undefined {
  return lineOf(text)?.replace(/\.0+$/, '');
}

const ROLES = { aut: 'authors', nrt: 'narrators', ill: 'illustrators', trl: 'translators' } as const;
type List = (typeof ROLES)[keyof typeof ROLES];

function peopleOf(all: readonly XmlElement[], metas: readonly XmlElement[]): Partial<Record<List, string[]>> {
  const names: Partial<Record<List, string[]>> = {};
  for (const { name, text, attributes } of all) {
    const role = attributes['role'] ?? refinedBy(metas, attributes['id'], 'role') ?? (name === 'creator' ? 'aut' : '');
    const list = ROLES[role as keyof typeof ROLES];
    if (list) names[list] = namesOf([...(names[list] ?? []), text]);
  }
  return names;
}
