// Wikidata and Open Library, in the shapes that they answer.
import { Catalogue, type Reply, type Requested } from './catalogue.ts';

const label = (value: string, language = 'en') => ({ [language]: { language, value } });
/** The types of a value and of its property, as Wikibase names them. */
function typesOf(value: unknown): [type: string, datatype: string] {
  if (typeof value === 'string') return ['string', /^[\w ]+\.jpg$/.test(value) ? 'commonsMedia' : 'external-id'];
  const has = (key: string): boolean => typeof value === 'object' && value !== null && key in value;
  if (has('time')) return ['time', 'time'];
  return has('amount') ? ['quantity', 'quantity'] : ['wikibase-entityid', 'wikibase-item'];
}
const snak = (value: unknown) => {
  const [type, datatype] = typesOf(value);
  return { snaktype: 'value', property: 'P', datavalue: { value, type }, datatype };
};
const statement = (value: unknown, rank = 'normal') => ({
  mainsnak: snak(value),
  type: 'statement',
  id: 'Q$1',
  rank,
});
const item = (id: string) => ({ 'entity-type': 'item', 'numeric-id': Number(id.slice(1)), id });
const time = (day: string) => ({ time: `+${day}T00:00:00Z`, timezone: 0, precision: 11 });

const entities: Record<string, object> = {
  Q42198: {
    id: 'Q42198',
    type: 'item',
    labels: label('Heat'),
    descriptions: label('1995 film by Michael Mann'),
    aliases: { en: [{ language: 'en', value: 'Heat (film)' }] },
    claims: {
      P345: [statement('tt0113277')],
      P4947: [statement('949')],
      P577: [statement(time('1996-02-02')), statement(time('1995-12-15'))],
      P57: [statement(item('Q220698'))],
      P161: [statement(item('Q41163')), statement(item('Q36949')), statement(item('Q999'), 'deprecated')],
      P136: [statement(item('Q188473'))],
      P495: [statement(item('Q30'))],
      P364: [statement(item('Q1860'))],
      P2047: [statement({ amount: '+170', unit: 'http://www.wikidata.org/entity/Q7727' })],
      P18: [statement('Heat premiere.jpg')],
    },
  },
  Q220698: { id: 'Q220698', type: 'item', labels: label('Michael Mann') },
  Q41163: { id: 'Q41163', type: 'item', labels: label('Al Pacino') },
  Q36949: { id: 'Q36949', type: 'item', labels: label('Robert De Niro') },
  Q188473: { id: 'Q188473', type: 'item', labels: label('action film') },
  Q30: { id: 'Q30', type: 'item', labels: label('United States'), claims: { P297: [statement('US')] } },
  Q1860: { id: 'Q1860', type: 'item', labels: label('English'), claims: { P218: [statement('en')] } },
};

function wikidata({ query, path }: Requested): Reply | undefined {
  if (path !== '/w/api.php' || query.get('format') !== 'json') return undefined;
  const action = query.get('action');
  if (action === 'wbgetentities') {
    const ids = (query.get('ids') ?? '').split('|');
    if (ids.length > 50) return { body: { error: { code: 'toomanyvalues', info: 'Too many values supplied.' } } };
    if (ids[0] === 'Q404') return { body: { error: { code: 'no-such-entity', info: 'Could not find an entity.' } } };
    const found = ids.map((id) => [id, entities[id] ?? { id, missing: '' }]);
    return { body: { entities: Object.fromEntries(found), success: 1 } };
  }
  if (action === 'wbsearchentities') {
    const hits = (query.get('search') ?? '').toLowerCase() === 'heat' ? ['Q42198'] : [];
    const search = hits.map((id) => ({ id, title: id, label: 'Heat', description: '1995 film by Michael Mann' }));
    return { body: { searchinfo: { search: query.get('search') }, search, success: 1 } };
  }
  const isHeat = /^haswbstatement:(?:P345=tt0113277|P4947=949)$/.test(query.get('srsearch') ?? '');
  const search = isHeat ? [{ ns: 0, title: 'Q42198', pageid: 1, size: 1, wordcount: 0, snippet: '' }] : [];
  return { body: { batchcomplete: '', query: { searchinfo: { totalhits: search.length }, search } } };
}

export const startWikidata = (): Promise<Catalogue> => Catalogue.start(wikidata);

const work = {
  key: '/works/OL45804W',
  type: { key: '/type/work' },
  title: 'Fantastic Mr Fox',
  description: { type: '/type/text', value: 'The main character of the story is Mr. Fox.' },
  subjects: ['Animals', 'Foxes', 'Animals'],
  covers: [6498519, -1, 8904777],
  authors: [{ author: { key: '/authors/OL34184A' }, type: { key: '/type/author_role' } }],
  first_publish_date: 'October 1, 1970',
};
const edition = {
  key: '/books/OL7353617M',
  title: 'Fantastic Mr. Fox',
  publish_date: 'October 1, 1988',
  publishers: ['Puffin'],
  covers: [8739161],
  isbn_13: ['9780140328721'],
  isbn_10: ['0140328726'],
  works: [{ key: '/works/OL45804W' }],
  languages: [{ key: '/languages/eng' }],
};
const author = {
  key: '/authors/OL34184A',
  name: 'Roald Dahl',
  bio: 'British novelist.',
  photos: [9395314],
  remote_ids: { wikidata: 'Q25161', viaf: '108159131' },
};

const PAGES: Record<string, object> = {
  '/works/OL45804W.json': work,
  '/books/OL7353617M.json': edition,
  '/authors/OL34184A.json': author,
};

function openLibrary({ path, query }: Requested): Reply | undefined {
  if (path === '/isbn/9780140328721.json') return { status: 302, headers: { location: '/books/OL7353617M.json' } };
  if (path === '/search.json') {
    const doc = {
      key: work.key,
      title: work.title,
      author_name: ['Roald Dahl'],
      first_publish_year: 1970,
      cover_i: 6498519,
    };
    const docs = (query.get('title') ?? '').toLowerCase().includes('fantastic') ? [doc] : [];
    return { body: { numFound: docs.length, start: 0, numFoundExact: true, docs } };
  }
  const body = PAGES[path];
  return body && { body };
}

export const startOpenLibrary = (): Promise<Catalogue> => Catalogue.start(openLibrary);
