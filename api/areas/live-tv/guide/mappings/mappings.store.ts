// Which channel of a guide belongs to which live channel.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Candidate, Match, ToMatch } from './matching.ts';

/** Channels as the matching reads them: of those ids, or all enabled ones; `automatic` leaves out mappings made by hand. */
export async function findToMatch(
  db: Db,
  { ids, unmapped }: { ids?: readonly string[] | undefined; unmapped: boolean },
): Promise<(ToMatch & { sourceId: string | null; guideId: string | null })[]> {
  return rowsOf(
    db,
    `select c.id, c.name, c.call_sign as "callSign", c.number, c.guide_source_id as "sourceId", c.guide_channel_id as "guideId",
            coalesce((select array_agg(distinct s.tvg_id) from live_sources s where s.channel_id = c.id and s.tvg_id is not null),
                     '{}') as "tvgIds"
       from live_channels c
      where c.matched_by is distinct from 'hand'
        and (?::uuid[] is null or c.id = any(?::uuid[]))
        and (not ? or c.guide_source_id is null)
      order by c.number_order, c.id`,
    [ids ? [...ids] : null, ids ? [...ids] : null, unmapped],
  );
}

/** Channels of guides with programmes; of those sources, or of all enabled ones. */
export async function findCandidates(db: Db, sourceIds?: readonly string[]): Promise<Candidate[]> {
  return rowsOf<Candidate>(
    db,
    `select g.source_id as "sourceId", g.guide_id as "guideId", g.names, g.number, s.priority
       from guide_channels g join guide_sources s on s.id = g.source_id
      where g.listed and s.enabled and (?::uuid[] is null or s.id = any(?::uuid[]))
      order by s.priority desc, s.id, g.id`,
    [sourceIds ? [...sourceIds] : null, sourceIds ? [...sourceIds] : null],
  );
}

/** Writes matches, never over a mapping made by hand; returns the channels that changed. */
export async function applyMatches(db: Db, matches: readonly Match[]): Promise<string[]> {
  if (matches.length === 0) return [];
  const rows = await rowsOf<{ id: string }>(
    db,
    `update live_channels c set guide_source_id = m.source, guide_channel_id = m.guide, matched_by = m.by
       from jsonb_to_recordset(?::jsonb) as m(channel uuid, source uuid, guide text, by text)
      where c.id = m.channel and c.matched_by is distinct from 'hand'
        and (c.guide_source_id, c.guide_channel_id) is distinct from (m.source, m.guide)
      returning c.id`,
    [
      JSON.stringify(
        matches.map(({ channelId: channel, sourceId: source, guideId: guide, by }) => ({ channel, source, guide, by })),
      ),
    ],
  );
  return rows.map(({ id }) => id);
}

/** Keeps the best live channel of each channel of the guide, for the screen of mappings. */
export async function putSuggestions(db: Db, sourceId: string, matches: readonly Match[]): Promise<void> {
  await db.raw(
    `with best as (select distinct on (guide) * from jsonb_to_recordset(?::jsonb)
         as m(channel uuid, guide text, score real, by text) order by guide, score desc, channel)
     update guide_channels g set suggestion_channel_id = b.channel, suggestion_score = b.score, suggestion_by = b.by
       from guide_channels o left join best b on b.guide = o.guide_id
      where o.id = g.id and g.source_id = ?
        and (g.suggestion_channel_id, g.suggestion_score, g.suggestion_by) is distinct from (b.channel, b.score, b.by)`,
    [
      JSON.stringify(
        matches.map(({ channelId: channel, guideId: guide, score, by }) => ({ channel, guide, score, by })),
      ),
      sourceId,
    ],
  );
}

export interface HandMapping {
  channelId: string;
  guideSourceId: string;
  guideChannelId: string | null;
}

export interface MappingProblem {
  channelId: string;
  reason: 'no-channel' | 'no-guide-channel';
}

/** Writes mappings made by hand; returns the channels that changed, and the mappings that name nothing. */
export async function putHandMappings(
  db: Db,
  mappings: readonly HandMapping[],
): Promise<{ changed: string[]; problems: MappingProblem[] }> {
  const given = JSON.stringify(
    mappings.map(({ channelId, guideSourceId, guideChannelId }) => ({
      ...{ channel: channelId, source: guideSourceId, guide: guideChannelId },
    })),
  );
  const shape = 'jsonb_to_recordset(?::jsonb) as m(channel uuid, source uuid, guide text)';
  const problems = await rowsOf<MappingProblem>(
    db,
    `select m.channel as "channelId", case when c.id is null then 'no-channel' else 'no-guide-channel' end as reason
       from ${shape} left join live_channels c on c.id = m.channel
      where c.id is null or (m.guide is not null
        and not exists (select from guide_channels g join guide_sources s on s.id = g.source_id
                         where g.source_id = m.source and g.guide_id = m.guide))
      order by m.channel`,
    [given],
  );
  const refused = problems.map(({ channelId }) => channelId);
  const changed = await rowsOf<{ id: string }>(
    db,
    `update live_channels c
        set guide_source_id = case when m.guide is null then null else m.source end, guide_channel_id = m.guide, matched_by = 'hand'
       from ${shape}
      where c.id = m.channel and not c.id = any(?::uuid[])
        and ((c.guide_source_id, c.guide_channel_id) is distinct from (case when m.guide is null then null else m.source end, m.guide)
             or c.matched_by is distinct from 'hand')
      returning c.id`,
    [given, refused],
  );
  return { changed: changed.map(({ id }) => id), problems };
}
