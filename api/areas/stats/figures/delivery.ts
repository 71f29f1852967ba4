import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { DeliveryStats } from '../stats.schemas.ts';
import type { Wanted } from './groups.ts';

const COUNTED = ['direct_play', 'direct_stream', 'transcode'] as const;

interface Peak {
  key: string;
  streams: number;
  transcodes: number;
  at: Date;
}

/** The most streams at once, by day. */
async function peaksOf(db: Db, span: Wanted['span']): Promise<Peak[]> {
  return rowsOf<Peak>(
    db,
    `with moves as (
       select started_at as at, 1 as step, (method = 'transcode')::int as coded from plays
        where started_at >= :start and started_at < :end and method = any(cast(:methods as text[]))
       union all
       select ended_at, -1, -((method = 'transcode')::int) from plays
        where started_at >= :start and started_at < :end and method = any(cast(:methods as text[]))),
     running as (
       select at, step, sum(step) over w as streams, sum(coded) over w as transcodes from moves
        window w as (order by at, step rows unbounded preceding))
     select distinct on (1) to_char(at at time zone :zone, 'YYYY-MM-DD') as key, streams::int, at,
            max(transcodes) over (partition by to_char(at at time zone :zone, 'YYYY-MM-DD'))::int as transcodes
       from running where step = 1 order by 1, streams desc, at`,
    { start: span.start, end: span.end, zone: span.timeZone, methods: [...COUNTED] } as never,
  );
}

/** How plays of the span were delivered. A play runs from its start to its end. */
export async function deliveryOf({ call, span }: Wanted): Promise<DeliveryStats> {
  const { db } = call;
  const { start, end } = span;
  const methods = await rowsOf<{ method: string; plays: number }>(
    db,
    `select method, sum(plays)::int as plays from play_sums where at >= ? and at < ? group by 1`,
    [start, end],
  );
  const reasons = await rowsOf<{ reason: string; plays: number }>(
    db,
    `select reason, count(*)::int as plays from plays, unnest(reasons) reason where started_at >= ? and started_at < ?
      group by 1 order by 2 desc, 1 limit 50`,
    [start, end],
  );
  const peaks = await peaksOf(db, span);
  const failed = await rowsOf<{ code: string; count: number }>(
    db,
    `select 'TRANSCODE_FAILED' as code, count(*)::int as count from playback_sessions
      where stop_reason = 'failed' and started_at >= ? and started_at < ? having count(*) > 0`,
    [start, end],
  );
  const of = (name: string): number => methods.find(({ method }) => method === name)?.plays ?? 0;
  const highest = peaks.toSorted((a, b) => b.streams - a.streams)[0];
  return {
    methods: { direct_play: of('direct_play'), direct_stream: of('direct_stream'), transcode: of('transcode') },
    reasons,
    peak: {
      streams: highest?.streams ?? 0,
      transcodes: Math.max(0, ...peaks.map(({ transcodes }) => transcodes)),
      at: highest ? iso(highest.at) : null,
    },
    concurrency: peaks.map(({ key, streams }) => ({ key, maxStreams: streams })),
    stalls: null,
    firstFrameMs: null,
    failedStarts: failed,
  };
}
