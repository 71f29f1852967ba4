import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { findCustomValues } from '../fields/custom-values.ts';
import { findFiles } from '../files/files.store.ts';
import type { ItemDetail } from '../items.schemas.ts';
import { resolutionOf } from '../kinds.ts';
import { idsPage } from '../listing/listing.ts';
import { childOrder } from '../listing/sorts.ts';
import type { MediaFile } from '../media.schemas.ts';
import { chaptersOf } from '../relations/chapters.ts';
import { findCollections } from '../relations/collections.view.ts';
import { listExtras } from '../relations/extras.store.ts';
import { FIRST, findCredits, findParents, firstOf, listMarkers } from '../relations/relations.store.ts';
import { listSimilar } from '../relations/similar.store.ts';
import { childListing } from './children.ts';
import { findItemDetails, isOrdered, nextUp, type VisibleItem } from './items.store.ts';
import { findLyrics } from './lyrics.ts';
import { listSummaries } from './summaries.store.ts';

export const detailRelations = [
  'files',
  'streams',
  'chapters',
  'markers',
  'people',
  'studios',
  'genres',
  'labels',
  'collections',
  'children',
  'parents',
  'extras',
  'similar',
  'custom',
  'userState',
  'externalIds',
  'lyrics',
] as const;

interface DetailOptions {
  include: readonly string[];
  /** The edition that resolution, hdr, length and size describe. */
  fileId?: string | undefined;
}

export async function itemDetail(call: Call, item: VisibleItem, options: DetailOptions): Promise<ItemDetail> {
  const { db, who } = call;
  const [details, files, next] = await Promise.all([
    findItemDetails(db, who, [item.id]),
    findFiles(db, item.container ? [] : [item.id], { streams: who }),
    isOrdered(item.type) ? nextUp(db, who, item.id) : undefined,
  ]);
  const detail = details.get(item.id);
  if (!detail) throw notFound();
  const own = files.get(item.id) ?? [];
  const added = await Promise.all(
    options.include.flatMap((name) => {
      const add = relations[name as keyof typeof relations];
      return add ? [add(call, { item, detail, fileId: options.fileId })] : [];
    }),
  );
  return Object.assign(
    detail,
    { files: own },
    next ? { next } : {},
    technical(own, options.fileId),
    ...added,
  ) as ItemDetail;
}

/** Technical fields of one edition instead of the best one. */
function technical(files: readonly MediaFile[], fileId: string | undefined): Partial<ItemDetail> {
  if (fileId === undefined) return {};
  const file = files.find((one) => one.id === fileId);
  if (!file) throw notFound();
  const video = file.streams.find((stream) => stream.kind === 'video');
  const resolution = resolutionOf(video?.height ?? null);
  return {
    runtimeMs: file.durationMs,
    sizeBytes: file.sizeBytes,
    ...(resolution ? { resolution } : {}),
    ...(video?.hdr ? { hdr: video.hdr } : {}),
  };
}

interface About {
  item: VisibleItem;
  detail: ItemDetail;
  fileId: string | undefined;
}
type Relation = (call: Call, about: About) => Promise<Partial<ItemDetail>>;

/** Relations that need a query of their own. */
const relations: Partial<Record<(typeof detailRelations)[number], Relation>> = {
  chapters: async ({ db }, { item, fileId }) => ({ chapters: firstOf((await chaptersOf(db, item.id, fileId)).items) }),
  markers: async ({ db }, { item }) => ({ markers: firstOf(await listMarkers(db, item.id)) }),
  people: async ({ db }, { item }) => ({
    people: (await findCredits(db, [item.id])).get(item.id) ?? { items: [], hasMore: false },
  }),
  collections: async ({ db, who }, { item }) => ({
    collections: (await findCollections(db, who, [item.id])).get(item.id) ?? [],
  }),
  children: async (call, { item }) => ({ children: await firstChildren(call, item) }),
  parents: async ({ db, who }, { detail }) => ({
    parents: (await findParents(db, who, [detail])).get(detail.id) ?? [],
  }),
  extras: async (call, { item }) => ({ extras: firstOf(await listExtras(call, item, {})) }),
  similar: async (call, { item }) => ({ similar: firstOf(await listSimilar(call, item, {})) }),
  custom: async ({ db, who }, { detail }) => ({
    custom: (await findCustomValues(db, who, [detail])).get(detail.id) ?? {},
  }),
  lyrics: async ({ db }, { item }) => ({ lyrics: await findLyrics(db, item.id) }),
};

async function firstChildren(call: Call, item: VisibleItem): Promise<NonNullable<ItemDetail['children']>> {
  const { items, page } = await idsPage(call, childListing(item, { specials: 'separate' }), {
    scope: 'children',
    fallback: 'index',
    sorts: [],
    moreSorts: { index: childOrder(false) },
    limit: FIRST,
    total: () => ({ total: 0 }), // the response has no total
  });
  return { items: await listSummaries(call.db, call.who, items), hasMore: page.hasMore };
}
