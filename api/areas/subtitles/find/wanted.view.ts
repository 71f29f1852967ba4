// The facts of an item by which providers find its subtitles.
import { posix } from 'node:path';
import { getVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import { type FileSource, findItemSource, findSource } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Wanted } from '../providers/provider.ts';
import { movieHashOf } from './moviehash.ts';

const TYPES = ['movie', 'episode', 'video'];
const HASH_MS = 2000;

type ItemFacts = Pick<Row<'items'>, 'title' | 'year' | 'external_ids'>;
export type Facts = Omit<Wanted, 'languages' | 'hearingImpaired' | 'forced' | 'query'>;

export interface WantedFilm {
  item: VisibleItem;
  /** Absent for an item without a present file. */
  file: FileSource | undefined;
  facts: Facts;
}

/** Throws 404, and 409 `wrong-type` for other types. */
export async function wantedFilm(call: Call, itemId: string, fileId?: string): Promise<WantedFilm> {
  const item = await getVisibleItem(call.db, call.who, itemId);
  if (!TYPES.includes(item.type)) throw conflict('wrong-type', 'Subtitles are for films, episodes and videos');
  const file = fileId ? await findSource(call.db, fileId) : await findItemSource(call.db, item.id);
  if (fileId && file?.itemId !== item.id) throw notFound();
  return { item, file, facts: { ...(await itemFacts(call, item)), ...(file && fileFacts(file)) } };
}

async function itemFacts(call: Call, item: VisibleItem): Promise<Facts> {
  const own = await factsOf(call, item.id);
  const facts = {
    ...{ type: item.type, title: own.title, ids: idsOf(own) },
    ...(own.year !== null && { year: own.year }),
  };
  if (item.type !== 'episode' || item.grandparentId === null) return facts;
  const show = await factsOf(call, item.grandparentId);
  return { ...facts, show: { title: show.title, ids: idsOf(show) }, ...numbersOf(item) };
}

function numbersOf({ parentIndex, indexNumber }: VisibleItem): { season?: number; episode?: number } {
  return {
    ...(parentIndex !== null && { season: parentIndex }),
    ...(indexNumber !== null && { episode: indexNumber }),
  };
}

async function factsOf({ db }: Call, id: string): Promise<ItemFacts> {
  const row = await db('items').where({ id }).first('title', 'year', 'external_ids');
  if (!row) throw notFound();
  return row;
}

function idsOf({ external_ids: ids }: ItemFacts): Record<string, string> {
  const texts = Object.entries((ids ?? {}) as Record<string, unknown>);
  return Object.fromEntries(texts.flatMap(([name, id]) => (typeof id === 'string' ? [[name, id]] : [])));
}

/** Name and frame rate of a film's file. */
function fileFacts({ path, probe }: FileSource): Pick<Facts, 'release' | 'frameRate'> {
  const rate = probe?.streams.find(({ kind }) => kind === 'video')?.['frameRate'];
  return {
    release: posix.basename(path, posix.extname(path)),
    ...(typeof rate === 'number' && rate > 0 && { frameRate: rate }),
  };
}

/** The hash of a film's file; undefined while its storage is unavailable or slow. */
export async function hashOf(
  { db, deps: { config } }: Call,
  file: FileSource | undefined,
): Promise<string | undefined> {
  const opened = file && (await openMedia({ db, config }, file));
  if (opened?.kind !== 'there') return undefined;
  const late = new Promise<undefined>((done) => setTimeout(() => done(undefined), HASH_MS).unref());
  return Promise.race([movieHashOf(opened.absolute).catch(() => undefined), late]);
}
