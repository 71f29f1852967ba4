import type { LiveSession, SessionRow } from '#areas/viewing/public.ts';
import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import { type LiveSegment, listSegments, segmentEnd } from '#platform/live/segments.ts';
import { findOpenStream } from '#platform/live/streams.store.ts';
import { visibleRecordings } from '../recordings/visible.ts';
import { withinAge } from './age.ts';
import { channelOf } from './channel.view.ts';
import { type Programme, programmesOf } from './programmes.ts';
import { countViewers, listOutages, type Outage } from './sources.view.ts';

/** A longer time between two segments is an outage, even if none is stored. */
const GAP_MS = 2000;

/** The scrub bar of a session: edges, programmes and outages. */
export async function liveSessionOf(call: Call, row: SessionRow): Promise<LiveSession> {
  const { db, who, deps, now } = call;
  const channelId = row.item_id;
  const segments = await withinAge(db, who, { channelId, segments: await listSegments(deps, channelId) });
  const from = new Date(segments[0]?.startMs ?? now.getTime());
  const to = new Date(Math.max(segmentEndOf(segments) ?? now.getTime(), from.getTime()));
  const programmes = await programmesOf(db, who, { channelId, from, to });
  const { reasons = [] } = row.decision as { reasons?: string[] };
  return {
    sessionId: row.id,
    channel: await channelOf(call, channelId),
    ...onAirOf(programmes, now),
    method: row.method === 'transcode' ? 'transcode' : 'direct_stream',
    reasons,
    rendition: row.live?.rendition ?? 'source',
    bufferFrom: iso(from),
    liveEdge: iso(to),
    viewers: await countViewers(db, channelId),
    programs: programmes.map(({ id, title, startAt, endAt }) => ({ id, title, startAt, endAt })),
    outages: withGaps(await listOutages(db, channelId, { from, to }), segments).map((one) => ({
      from: iso(one.from),
      to: iso(one.to),
      reason: one.reason,
    })),
    ...(await recordingOf(call, channelId)),
    ...(await streamOf(call, channelId)),
  };
}

function onAirOf(programmes: readonly Programme[], now: Date): Pick<LiveSession, 'program'> {
  const at = now.getTime();
  const found = programmes.find((one) => Date.parse(one.startAt) <= at && Date.parse(one.endAt) > at);
  if (!found) return {};
  const { isRestricted: _, ...program } = found;
  return { program };
}

/** The running recording of the channel. */
async function recordingOf({ db, who }: Call, channelId: string): Promise<Pick<LiveSession, 'recordingId'>> {
  const row = await visibleRecordings(db, who)
    .where({ 'r.channel_id': channelId, 'r.state': 'recording' })
    .orderBy('r.start_at')
    .first();
  return row ? { recordingId: row.id } : {};
}

/** When its slot goes to a recording; the tuner with session:manage alone. */
async function streamOf({ db, who }: Call, channelId: string): Promise<Pick<LiveSession, 'tuner' | 'yieldsAt'>> {
  const stream = await findOpenStream(db, channelId);
  if (!stream) return {};
  const { tuner_id: tunerId, slot, yields_at: yieldsAt } = stream;
  return {
    ...(yieldsAt && { yieldsAt: iso(yieldsAt) }),
    ...(may(who, 'session:manage') && { tuner: { tunerId, slot } }),
  };
}

const segmentEndOf = (segments: readonly LiveSegment[]): number | undefined => {
  const last = segments.at(-1);
  return last && segmentEnd(last);
};

/** The noted outages, and times between segments that no one noted, such as those between two viewings. */
function withGaps(noted: readonly Outage[], segments: readonly LiveSegment[]): Outage[] {
  const gaps = segments.flatMap((one, at): Outage[] => {
    const before = segments[at - 1];
    if (!before || one.startMs - segmentEnd(before) <= GAP_MS) return [];
    return [{ from: new Date(segmentEnd(before)), to: new Date(one.startMs), reason: 'not-received' }];
  });
  const isNoted = (gap: Outage): boolean => noted.some((one) => one.from < gap.to && one.to > gap.from);
  return [...noted, ...gaps.filter((gap) => !isNoted(gap))].sort((a, b) => a.from.getTime() - b.from.getTime());
}
