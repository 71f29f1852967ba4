import type { Knex } from 'knex';
import type { Listing } from '../listing/listing.ts';
import type { VisibleItem } from './items.store.ts';

/** What lies in containers, for listItemChildren, include=children, trees and neighbours. */

export type Specials = 'separate' | 'inline' | 'hidden';

const childTypes: Record<string, readonly string[]> = {
  show: ['season', 'episode'],
  season: ['episode'],
  artist: ['album'],
  album: ['track'],
  author: ['book', 'audiobook'],
  'comic-series': ['comic'],
  course: ['section', 'lesson'],
  section: ['lesson'],
  'photo-album': ['photo', 'video'],
};

export interface ChildrenQuery {
  /** Deeper levels as a flat list. */
  types?: readonly string[] | undefined;
  /** Episodes of that season of a show. */
  season?: number | undefined;
  specials: Specials;
}

/** The children of an item; a leaf has none. */
export function childListing(item: VisibleItem, wish: ChildrenQuery): Listing {
  const types = wish.types ?? (wish.season === undefined ? (childTypes[item.type] ?? []) : ['episode']);
  const deep = wish.types !== undefined || wish.season !== undefined;
  return {
    types,
    narrow: (query) => {
      query.where((within: Knex.QueryBuilder) => {
        within.where('i.parent_id', item.id);
        if (deep) within.orWhere('i.grandparent_id', item.id);
        if (item.type === 'season' && wish.specials === 'inline') within.orWhere((special) => airedIn(special, item));
      });
      if (deep) query.whereIn('i.type', [...types]);
      if (wish.season !== undefined) query.where('i.parent_index', wish.season);
      if (wish.specials !== 'separate') withoutSpecials(query, item, wish);
    },
  };
}

/** Specials of the show that aired during this season. */
function airedIn(query: Knex.QueryBuilder, season: VisibleItem): void {
  query
    .where('i.grandparent_id', season.parentId)
    .where('i.parent_index', 0)
    .whereRaw(`i.airs_before ->> 'season' = ?`, [String(season.indexNumber ?? '')]);
}

/** Hidden: none at all. Inline: their season is not listed, they stand among the episodes. */
function withoutSpecials(query: Knex.QueryBuilder, item: VisibleItem, wish: ChildrenQuery): void {
  if (item.type === 'season' && item.indexNumber === 0) return; // asked for by itself
  if (wish.season === 0) return;
  query.whereRaw(`not (i.type = 'season' and i.index_number = 0)`);
  if (wish.specials === 'hidden') query.whereRaw(`not (i.type = 'episode' and i.parent_index = 0)`);
}
