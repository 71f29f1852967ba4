// The agent `spine`: identifies and describes items by the loaded packs, without a network.
import type { Description, Found, Identity, KnownChild, Wanted } from '../agents/agent.ts';
import { known } from '../agents/parts.ts';
import type { Db } from '../db.ts';
import type { ItemValues, NamedCredit } from '../item-values.ts';
import { idSchemes, type Work } from './work.ts';
import { type FoundWork, worksByIds, worksByTitle, worksIn } from './works.store.ts';

export const spineItemTypes = ['movie', 'show', 'season', 'episode', 'artist', 'album', 'book', 'audiobook'];
const ROLES = new Set(['actor', 'director', 'writer', 'producer', 'composer', 'author', 'narrator', 'cinematographer']);

const kindOf = (type: string): string => (type === 'audiobook' ? 'book' : type);
const schemeIds = (ids: Readonly<Record<string, string>>): string[] =>
  Object.entries(ids).flatMap(([scheme, id]) =>
    [...idSchemes, 'isbn'].includes(scheme as never) ? [`${scheme}:${id.slice(0, 64)}`] : [],
  );

/** The ids of a work as items have them. */
export const itemIds = ({ ids: { isbn: _isbn, ...ids } }: Pick<Work, 'ids'>): Record<string, string> =>
  known<Record<string, string>>(ids as Record<string, string>);

const creatorsOf = ({ creators }: Work): string[] => creators.map(({ name }) => name);

const toFound = ({ work }: FoundWork): Found =>
  known<Found>({
    ...{ ids: itemIds(work), type: work.kind, title: work.title, originalTitle: work.originalTitle },
    ...{ aliases: work.aliases.map(({ title }) => title), year: work.year, releasedOn: work.releasedOn },
    ...{ overview: work.description, runtimeMs: work.runtimeMs, isbn: work.ids.isbn },
    by: ['album', 'book'].includes(work.kind) ? creatorsOf(work) : undefined,
  });

/** Works that may be the item: those of its ids, else those of its title. */
export async function identifyWork(db: Db, wanted: Wanted): Promise<Found[]> {
  const { ids, isbn, title, originalTitle, year } = wanted;
  const kind = kindOf(wanted.type);
  const own = await worksByIds(
    db,
    [...schemeIds(ids), ...(isbn ? [`isbn:${isbn.replace(/[\s-]/g, '').slice(0, 13)}`] : [])],
    kind,
  );
  if (own.length > 0) return own.map(toFound);
  const titles = originalTitle === undefined ? [title] : [title, originalTitle];
  return (await worksByTitle(db, { titles, kind, year })).map(toFound);
}

/** The work of an identity; a season or an episode by its place in the show. */
async function workOf(db: Db, { type, ids, parentIndex, index }: Identity): Promise<Work | undefined> {
  const isPart = type === 'season' || type === 'episode';
  const [top] = await worksByIds(db, schemeIds(ids), isPart ? 'show' : kindOf(type));
  if (!isPart || !top) return top?.work;
  const season = await childAt(db, top.work, type === 'season' ? index : parentIndex);
  return type === 'season' || !season ? season : childAt(db, season, index);
}

async function childAt(db: Db, parent: Work, index: number | undefined): Promise<Work | undefined> {
  const children = index === undefined ? [] : await worksIn(db, parent);
  return children.find(({ work }) => work.parent?.index === index)?.work;
}

export async function describeWork(db: Db, identity: Identity): Promise<Description | undefined> {
  const work = await workOf(db, identity);
  if (!work) return undefined;
  const isPart = identity.type === 'season' || identity.type === 'episode';
  const isBook = work.kind === 'book';
  const people = work.creators.map(
    ({ name, role, ids }): NamedCredit => ({ name, role: ROLES.has(role) ? role : 'other', ids }),
  );
  const values = known<ItemValues>({
    ...{ title: work.title, originalTitle: work.originalTitle, year: work.year, releasedOn: work.releasedOn },
    ...{ overview: work.description, genres: work.genres, countries: work.countries, people },
    originalLanguage: work.languages[0],
    authors: isBook ? work.creators.filter(({ role }) => role === 'author').map(({ name }) => name) : undefined,
    artists: work.kind === 'album' ? creatorsOf(work) : undefined,
    series: work.series && known({ title: work.series.title, number: work.series.index }),
    externalIds: isPart ? undefined : itemIds(work),
  });
  return { values, pictures: [] };
}

/** Seasons and episodes of a show, albums of an artist. */
export async function childrenOfWork(db: Db, identity: Identity): Promise<KnownChild[]> {
  if (identity.type !== 'show' && identity.type !== 'artist') return [];
  const work = await workOf(db, identity);
  if (!work) return [];
  const children: KnownChild[] = [];
  for (const { work: child } of await worksIn(db, work)) {
    children.push(toChild(child, undefined));
    if (child.kind !== 'season') continue;
    for (const { work: episode } of await worksIn(db, child)) children.push(toChild(episode, child.parent?.index));
  }
  return children;
}

const toChild = (work: Work, parentIndex: number | undefined): KnownChild =>
  known<KnownChild>({
    ...{ type: work.kind, title: work.title, parentIndex, index: work.parent?.index, releasedOn: work.releasedOn },
    ...{ externalIds: itemIds(work), overview: work.description },
  });
