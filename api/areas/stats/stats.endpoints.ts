import { defineEndpoint, json, none, otherText } from '#kernel/endpoint.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { page } from '#kernel/page.ts';
import { readStats } from './figures/stats.ts';
import { forgetHistory } from './history/forget.ts';
import { historyCsv, pageOfHistory } from './history/history.view.ts';
import { ForgetQuery, HistoryEntry, HistoryQuery, Stats, StatsQuery } from './stats.schemas.ts';

export const listHistory = defineEndpoint({
  operationId: 'listHistory',
  method: 'get',
  path: '/stats/history',
  summary: 'List the play history',
  description:
    "The newest first, of the caller's own profile. Others need `session:manage`; then adults are shown while the setting `stats.adminsSeeHistory` is on and their profile is not private, children always. Items that are hidden from the caller are left out. With `Accept: text/csv` the answer is a CSV of at most 100,000 rows, in which cells that look like a formula are text.",
  access: { permission: 'library:view' },
  query: HistoryQuery,
  answer: page(HistoryEntry),

  async handle({ query }, call) {
    if (!/^text\/csv\b/i.test(call.headers.accept ?? '')) return pageOfHistory(call, query);
    return otherText('text/csv; charset=utf-8; header=present', await historyCsv(call, query));
  },
});

export const deleteHistory = defineEndpoint({
  operationId: 'deleteHistory',
  method: 'delete',
  path: '/stats/history',
  summary: 'Delete entries of the history',
  description:
    "Exactly one of ids, itemId, before and all says what goes, of the caller's own profile. Watched marks, positions and ratings stay, and the sums of the server keep the figures without the person. A child cannot delete its own (403); with `user:manage` the history of a child is deleted by `userId`.",
  access: { permission: 'library:view' },
  query: ForgetQuery,
  answer: none(),
  errors: ['NOT_FOUND'],

  async handle({ query }, call) {
    await forgetHistory(call, query);
  },
});

export const getStats = defineEndpoint({
  operationId: 'getStats',
  method: 'get',
  path: '/stats',
  summary: 'Get figures about plays',
  description:
    "Sums of a span of days, by default the last 30, in the time zone of the profile, or of the server for its scope. Everything beyond the caller's own profile needs `session:manage`. Times without plays are listed with zeros; people and items that the caller may not know are counted as `others`. The answer carries an ETag.",
  access: { permission: 'library:view' },
  query: StatsQuery,
  answer: json(200, Stats),

  async handle({ query }, call) {
    return answerUnlessSame(call, await readStats(call, query));
  },
});
