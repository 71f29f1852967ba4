import type { Knex } from 'knex';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { type Page, pageOf, parseSort, type SortTable } from '#kernel/page.ts';
import { getSource } from '../sources/source-rules.ts';
import { channelSorts, type GuideChannelsQuery, type GuideSourceChannel } from './mappings.schemas.ts';

interface GuideChannelRow {
  /** By which pages are continued. */
  id: string;
  guide_id: string;
  names: string[];
  number: string | null;
  icon_url: string | null;
  programs: number;
  mapped: string[];
  suggestion_channel_id: string | null;
  suggestion_score: number | null;
  suggestion_by: 'id' | 'name' | 'number' | null;
}

const MAPPED = `live_channels m where m.guide_source_id = g.source_id and m.guide_channel_id = g.guide_id`;
/** By the likeness of their names to that of a channel. */
const likeness: SortTable = { likeness: { column: 'a.likeness', type: 'real' } };

/** Channels of a source; with `channelId` those with the most similar names first. Throws 404. */
export async function guideChannelsPage(
  call: Call,
  sourceId: string,
  query: GuideChannelsQuery,
): Promise<{ items: GuideSourceChannel[]; page: Page }> {
  await getSource(call.db, sourceId);
  const rows = listed(call, sourceId, query);
  if (query.channelId !== undefined) await joinLikeness(call, rows, query.channelId);
  const byLikeness = query.channelId !== undefined && query.sort === undefined;
  return pageOf<GuideChannelRow, GuideSourceChannel>(call.db, rows, {
    keys: call.deps.keys,
    terms: byLikeness ? parseSort('-likeness', likeness, '') : parseSort(query.sort, channelSorts, 'id'),
    ...{ cursor: query.cursor, limit: query.limit, idColumn: 'g.row_id' },
    scope: JSON.stringify(['listGuideSourceChannels', sourceId, query.q, query.mapped, query.channelId]),
    toItem: toGuideChannel,
  });
}

function listed({ db }: Call, sourceId: string, { q, mapped }: GuideChannelsQuery): Knex.QueryBuilder {
  const rows = db
    .from('guide_channels as g')
    .joinRaw('left join live_channels s on s.id = g.suggestion_channel_id')
    .where({ 'g.source_id': sourceId, 'g.listed': true } as never)
    .select(
      db.raw(`g.row_id as id, g.guide_id, g.names, g.number, g.icon_url, g.programs, g.suggestion_score, g.suggestion_by,
        s.id as suggestion_channel_id, array(select m.id from ${MAPPED} order by m.number_order, m.id) as mapped`),
    ) as unknown as Knex.QueryBuilder;
  if (mapped !== undefined) void rows.whereRaw(`${mapped ? '' : 'not '}exists (select from ${MAPPED})`);
  if (q !== undefined) {
    const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`;
    void rows.whereRaw(
      `(foyer_fold(g.guide_id) like foyer_fold(?)
        or exists (select from unnest(g.names) as n(name) where foyer_fold(n.name) like foyer_fold(?)))`,
      [pattern, pattern],
    );
  }
  return rows;
}

async function joinLikeness({ db }: Call, rows: Knex.QueryBuilder, channelId: string): Promise<void> {
  const channel = await db('live_channels').where({ id: channelId }).first('name');
  if (!channel) throw notFound();
  void rows.joinRaw(
    `cross join lateral (select coalesce(max(similarity(foyer_fold(n.name), foyer_fold(?))), 0) as likeness
       from unnest(g.names || g.guide_id) as n(name)) a`,
    [channel.name],
  );
}

function toGuideChannel(row: GuideChannelRow): GuideSourceChannel {
  const { suggestion_channel_id: channelId, suggestion_score: score, suggestion_by: by } = row;
  return {
    ...{ id: row.guide_id, names: row.names, programs: row.programs, mappedTo: row.mapped },
    ...(row.number !== null && { number: row.number }),
    ...(row.icon_url !== null && { iconUrl: true }),
    ...(channelId !== null &&
      score !== null &&
      by !== null && {
        suggestion: { channelId, score: Math.round(score * 100) / 100, by },
      }),
  };
}
