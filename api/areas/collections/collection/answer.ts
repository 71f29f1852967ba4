import { listed } from '#areas/items/public.ts';
import { directory } from '#areas/users/public.ts';
import { may, type Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { countUpTo } from '#kernel/page.ts';
import { ImageRef, iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { Collection, CollectionDetail } from '../collections.schemas.ts';
import { collectionList } from '../items/listing.ts';
import { type Chosen, chosenPictures } from './artwork.view.ts';
import { accountsOf, type CollectionRow } from './collections.store.ts';
import { type Facts, factsOf } from './facts.ts';

const MOST_CANDIDATES = 200;

export const isMine = (who: Principal, { owner_id: owner }: Pick<CollectionRow, 'owner_id'>): boolean =>
  owner !== null && owner === who.accountId;

/** The owner edits; a collection of the server is edited with `item:edit`. */
export const mayEdit = (who: Principal, row: Pick<CollectionRow, 'owner_id'>): boolean =>
  may(who, 'playlist:own') && (row.owner_id === null ? may(who, 'item:edit') : isMine(who, row));

interface Shown {
  facts: Facts;
  chosen: Chosen | undefined;
}

const NO_FACTS: Facts = {
  ...{ itemCount: 0, types: [], libraryIds: [], years: {} },
  ...{ runtimeMs: 0, sizeBytes: 0, mosaic: [] },
};

function toCollection(who: Principal, row: CollectionRow, { facts, chosen }: Shown): Collection {
  const { itemCount, types, libraryIds, mosaic } = facts;
  return {
    ...{ id: row.id, name: row.name, sortName: row.sort_name, kind: row.kind, source: row.source },
    ...(row.overview !== null && { overview: row.overview }),
    ...ownerOf(row),
    ...{ sharing: row.sharing, mine: isMine(who, row), canEdit: mayEdit(who, row) },
    ...{ itemCount, types, libraryIds, artwork: { ...chosen, mosaic } },
    ...{ sort: row.sort ?? 'manual', pinned: row.pinned, externalIds: externalIdsOf(row) },
    ...{ createdAt: iso(row.created_at), updatedAt: iso(row.updated_at) },
  };
}

const ownerOf = ({ owner_id: userId, owner_name: displayName }: CollectionRow): Pick<Collection, 'owner'> =>
  userId === null ? {} : { owner: { userId, displayName: displayName ?? '' } };

/** A key of a catalogue is `provider:id`. */
function externalIdsOf({ agent_key: key }: CollectionRow): Record<string, string> {
  if (key === null) return {};
  const colon = key.indexOf(':');
  return { [key.slice(0, colon)]: key.slice(colon + 1) };
}

/** Collections as lists answer them. */
export async function toCollections(call: Call, rows: readonly CollectionRow[]): Promise<Collection[]> {
  const facts = await factsOf(call, rows);
  const chosen = await chosenPictures(call.db, call.who, rows);
  return rows.map((row) =>
    toCollection(call.who, row, { facts: facts.get(row.id) ?? NO_FACTS, chosen: chosen.get(row.id) }),
  );
}

export async function toOne(call: Call, row: CollectionRow): Promise<Collection> {
  const [one] = await toCollections(call, [row]);
  if (!one) throw new Error('no collection');
  return one;
}

/** A collection with what only its own page needs. */
export async function toDetail(
  call: Call,
  row: CollectionRow,
  include: readonly string[] = [],
): Promise<CollectionDetail> {
  const { db, who } = call;
  const edits = mayEdit(who, row);
  const one = await toOne(call, row);
  const watchedCount = await countWatched(call, row);
  const facts = await factsOf(call, [row]);
  const { years = {}, runtimeMs = 0 } = facts.get(row.id) ?? {};
  return {
    ...one,
    ...{ watchedCount, years, runtimeMs, lockedFields: row.locked_fields },
    ...(row.rules && { rules: row.rules }),
    ...(edits && { accounts: await accountsOf(db, row.id) }),
    ...(edits && include.includes('candidates') && { candidates: await candidatesFor(db, who) }),
  };
}

async function countWatched(call: Call, row: CollectionRow): Promise<number> {
  const { listing, within } = await collectionList(call, row);
  if (listing.shelves?.length === 0) return 0;
  const watched = { field: 'watched', op: 'eq', values: ['true'] } as const;
  const { total } = await countUpTo(call.db, listed(call, listing, { all: [within, watched] }).select('i.id'));
  return total;
}

/** With whom the caller may share. */
async function candidatesFor(db: Db, who: Principal): Promise<NonNullable<CollectionDetail['candidates']>> {
  const rows = await directory(db, who).orderBy(['a.display_name', 'a.id']).limit(MOST_CANDIDATES);
  const ids = rows.flatMap(({ avatar_id: id }) => id ?? []);
  const images = await db('images').whereIn('id', ids).select('id', 'kind', 'width', 'height', 'blurhash', 'version');
  const avatars = new Map(
    images.map((image) => [image.id, ImageRef.safeParse({ ...image, version: String(image.version) }).data]),
  );
  return rows.map(({ id, display_name: displayName, avatar_id: avatarId }) => {
    const avatar = avatarId === null ? undefined : avatars.get(avatarId);
    return { userId: id, displayName, ...(avatar && { avatar }) };
  });
}
