import { query } from '#core/cache/query.ts';

const INCLUDE = 'files,people,chapters,extras,similar,collections,parents,custom';

export const itemQuery = (id: string) => query('getItem', { params: { id }, query: { include: INCLUDE } });
