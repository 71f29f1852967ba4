import type { Knex } from 'knex';
import type { Listing } from '../listing/listing.ts';
import type { VisibleItem } from './items.store.ts';

/** Children of containers, for listItemChildren, include=children, trees and neighbours. */

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
  /** Episodes of this season of a show. */
  season?: number | undefined;
  specials: Specials;
}

/** The children of an item. An item that is no container has none. */
export function childListing(item: VisibleItem, options: ChildrenQuery): Listing {
  const types = options.types ?? (options.season === undefined ? (childTypes[item.type] ?? []) : ['episode']);
  const deep = options.types !== undefined || options.season !== undefined;
  return {
    types,
    narrow: (query) => {
      query.where((within: Knex.QueryBuilder) => {
        within.where('i.parent_id', item.id);
        if (deep) within.orWhere('i.grandparent_id', item.id);
        if (item.type === 'season' && options.specials === 'inline')
          within.orWhere((special) => airedIn(special, item));
      });
      if (deep) query.whereRaw('(i.type = any(?::text[]) or i.own_type = any(?::text[]))', [[...types], [...types]]);
      if (options.season !== undefined) query.where('i.parent_index', options.season);
      if (options.specials !== 'separate') withoutSpecials(query, item, options);
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

/** `hidden` removes specials. `inline` removes their season and keeps the specials among the episodes. */
function withoutSpecials(query: Knex.QueryBuilder, item: VisibleItem, options: ChildrenQuery): void {
  if (item.type === 'season' && item.indexNumber === 0) return; // the client requested the specials themselves
  if (options.season === 0) return;
  query.whereRaw(`not (i.type = 'season' and i.index_number = 0)`);
  if (options.specials === 'hidden') query.whereRaw(`not (i.type = 'episode' and i.parent_index = 0)`);
}
