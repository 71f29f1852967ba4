import type { SortTable } from '#kernel/sort.ts';

export const historySort = {
  startedAt: { column: 'p.started_at', type: 'timestamptz', descends: true },
  playedMs: { column: 'p.played_ms', type: 'bigint', descends: true },
  title: { column: 'p.title', type: 'text' },
} as const satisfies SortTable;
