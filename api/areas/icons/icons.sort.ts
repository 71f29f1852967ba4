import type { SortTable } from '#kernel/sort.ts';

export const iconSort = {
  name: { column: 'x.name', type: 'text' },
  setName: { column: 'x.set_name', type: 'text' },
  updatedAt: { column: 'x.updated_at', type: 'timestamptz', descends: true },
} as const satisfies SortTable;
