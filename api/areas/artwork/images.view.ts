import type { Db } from '#platform/db.ts';
import type { Image, ImageInfo } from './artwork.schemas.ts';
import { choosers } from './images.store.ts';

/** What shows an image: its owner, when it is selected there, and everything else that chose it. */
export async function usersOf(db: Db, image: Image): Promise<NonNullable<ImageInfo['usedBy']>> {
  const others = await choosers(db, image.id, undefined);
  const { kind, id } = image.owner;
  const isListed = others.some((one) => one.id === id);
  const owner = image.selected && !isListed ? [{ kind, id, title: await titleOf(db, image.owner) }] : [];
  return [...owner, ...others] as NonNullable<ImageInfo['usedBy']>;
}

async function titleOf(db: Db, { kind, id }: Image['owner']): Promise<string> {
  if (kind === 'item') return (await db('items').where({ id }).first('title'))?.title ?? '';
  return kind === 'person' ? ((await db('people').where({ id }).first('name'))?.name ?? '') : '';
}
