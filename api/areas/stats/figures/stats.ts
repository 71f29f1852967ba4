import { requirePermission } from '#identity/principal.ts';
import { onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { zoneOf } from '../persons.ts';
import { spanOf } from '../span.ts';
import type { Stats, StatsQuery } from '../stats.schemas.ts';
import { readContent } from './content.store.ts';
import { deliveryOf } from './delivery.ts';
import { groupsOf, totalsOf, type Wanted } from './groups.ts';
import { isTime, timesOf } from './times.ts';
import { topOf } from './top.ts';

/** Throws 403 for anything beyond the caller's own profile without `session:manage`. */
function refuseOthers({ who }: Call, { scope, userId, include = [] }: StatsQuery): void {
  if (scope === 'server' || userId !== undefined || include.includes('content') || include.includes('delivery'))
    requirePermission(who, 'session:manage');
}

async function visibleLibraries({ db, who }: Call): Promise<Set<string>> {
  const rows = await db('libraries').modify(onlyVisibleLibraries, who).select('libraries.id');
  return new Set(rows.map(({ id }) => id));
}

export async function readStats(call: Call, query: StatsQuery): Promise<Stats> {
  refuseOthers(call, query);
  const span = await spanOf(call.db, query, zoneOf(call, query.scope));
  const times = isTime(query.groupBy) ? await timesOf(call.db, span, query.groupBy) : [];
  const wanted: Wanted = { call, query, span, times };
  const includes = new Set(query.include);
  const { from, to, timeZone } = span;
  const [top, { totals, groups }] = await Promise.all([topOf(wanted), groupsOf(wanted)]);
  return {
    scope: query.scope,
    range: { from, to, timeZone },
    totals,
    groups,
    ...(top && { top }),
    ...(includes.has('content') && { content: await readContent(call.db, await visibleLibraries(call)) }),
    ...(includes.has('delivery') && { delivery: await deliveryOf(wanted) }),
    ...(includes.has('previous') && { previous: await totalsOf(wanted, { start: span.before, end: span.start }) }),
  };
}
