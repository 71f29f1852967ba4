import { z } from 'zod';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid } from '#kernel/errors.ts';
import { MissingChild } from '../listing.schemas.ts';
import type { VisibleItem } from './items.store.ts';
import { findKnownChildren, hasMissing } from './missing.store.ts';

const Known = MissingChild.omit({ aired: true });

export interface MissingQuery {
  aired?: boolean | undefined;
  specials?: boolean;
}

/** Children that the agent reported at the last refresh and no library of the caller holds, in number order. */
export async function listMissing(call: Call, item: VisibleItem, query: MissingQuery): Promise<MissingChild[]> {
  const { known, held, matched } = await findKnownChildren(call.db, call.who, item);
  if (!matched) throw conflict('not-matched', 'No agent has identified this item');
  const today = call.now.toISOString().slice(0, 10);
  return known
    .flatMap((child): MissingChild[] => {
      const parsed = z.safeParse(Known, child);
      if (!parsed.success || held(parsed.data)) return [];
      const { releasedOn } = parsed.data;
      return [{ ...parsed.data, aired: releasedOn !== undefined && releasedOn <= today }];
    })
    .filter((child) => query.aired === undefined || child.aired === query.aired)
    .filter((child) => query.specials || child.parentIndex !== 0)
    .sort(byNumber);
}

/** Fields that order missing children. */
export type MissingPlace = Pick<MissingChild, 'type' | 'title' | 'parentIndex' | 'index' | 'releasedOn'>;

function byNumber(a: MissingPlace, b: MissingPlace): number {
  const key = (child: MissingPlace): number => (child.parentIndex ?? 0) * 100_000 + (child.index ?? 99_999);
  return key(a) - key(b) || a.title.localeCompare(b.title);
}

function byRelease(a: MissingPlace, b: MissingPlace): number {
  return (a.releasedOn ?? '9999').localeCompare(b.releasedOn ?? '9999') || byNumber(a, b);
}

/** `releasedOn` or `index`; `-` is descending. */
export function missingOrder(sort: string): (a: MissingPlace, b: MissingPlace) => number {
  const order = { index: byNumber, releasedOn: byRelease }[sort.replace(/^-/, '')];
  if (!order) throw invalid(['query', 'sort'], 'unknown_field', 'sorts are releasedOn and index');
  return sort.startsWith('-') ? (a, b) => order(b, a) : order;
}

/** At most 200 placeholders of the requested season, for listItemChildren with `missing`. */
export async function missingPlaceholders(
  call: Call,
  item: VisibleItem,
  query: { season?: number | undefined; specials: string; type?: readonly string[] | undefined },
): Promise<MissingChild[]> {
  if (!hasMissing(item.type)) return [];
  const season = item.type === 'season' ? (item.indexNumber ?? undefined) : query.season;
  const all = await listMissing(call, item, { specials: query.specials !== 'hidden' }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'CONFLICT') return []; // no agent has identified the item
    throw error;
  });
  return all
    .filter((child) => season === undefined || child.parentIndex === season)
    .filter((child) => !query.type || query.type.includes(child.type))
    .slice(0, 200);
}
