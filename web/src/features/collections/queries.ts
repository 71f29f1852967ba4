import { query } from '#core/cache/query.ts';
import { pagesOf } from '#features/people/queries.ts';

export const collectionQuery = (id: string) => query('getCollection', { params: { id }, query: {} });

/** The items of a collection in its order, page by page. */
export const itemsOf = (id: string) => pagesOf('listCollectionItems', { params: { id }, query: { limit: 60 } });
