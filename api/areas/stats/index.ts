import { defineArea } from '#kernel/endpoint.ts';
import { deleteHistory, getStats, listHistory } from './stats.endpoints.ts';

export const statsArea = defineArea('stats', 'Stats', [listHistory, deleteHistory, getStats]);
