import type { Knex } from 'knex';
import { may, type Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { type ImageRef, iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { nowAndNext } from '../guide/programs.view.ts';
import type { LiveChannel, LiveSource, LiveTest } from './channels.schemas.ts';
import type { ChannelRow } from './channels.store.ts';

export interface ShownChannel extends ChannelRow {
  favorite: boolean;
  logo: ImageRef | null;
  recording: boolean;
}

/** Channels that the caller may see; with `disabled` those that are switched off too. */
export function visibleChannels(db: Db, who: Principal, { disabled }: { disabled: boolean }): Knex.QueryBuilder {
  const query = db('live_channels as c')
    .join('items as i', 'i.id', 'c.id')
    .leftJoin('live_favorites as f', (on) => {
      on.on('f.channel_id', 'c.id').andOn('f.profile_id', db.raw('?::uuid', [who.profileId || null]) as never);
    })
    .modify(onlyVisibleItems, who, 'i')
    .select(
      'c.*',
      db.raw(`f.profile_id is not null as favorite, i.artwork -> 'logo' as logo,
      exists (select from live_streams t where t.channel_id = c.id and t.ended_at is null and t.recorded_until > now()) as recording`),
    );
  if (!disabled) query.where('c.enabled', true);
  return query;
}

/** One channel; for those who manage a disabled one too. Throws 404. */
export async function getChannel({ db, who }: Pick<Call, 'db' | 'who'>, id: string): Promise<ShownChannel> {
  const query = visibleChannels(db, who, { disabled: may(who, 'library:manage') });
  const [row]: ShownChannel[] = await query.where('c.id', id);
  if (!row) throw notFound();
  return row;
}

/** Channels by their ids, enabled or not. The caller must have checked that they are visible. */
export async function channelsById(
  call: Pick<Call, 'db' | 'who' | 'now'>,
  ids: readonly string[],
): Promise<Map<string, LiveChannel>> {
  const query = visibleChannels(call.db, call.who, { disabled: true });
  const rows: ShownChannel[] = await query.whereRaw('c.id = any(?::uuid[])', [[...ids]]);
  return new Map((await toChannels(call, rows)).map((channel) => [channel.id, channel]));
}

type Relation = 'now' | 'next' | 'sources';

/** Channels as the API answers them, in the order of the rows. */
export async function toChannels(
  { db, who, now: at }: Pick<Call, 'db' | 'who' | 'now'>,
  rows: readonly ShownChannel[],
  include: readonly Relation[] = [],
): Promise<LiveChannel[]> {
  const ids = rows.map(({ id }) => id);
  const withGuide = include.includes('now') || include.includes('next');
  const [programs, sources] = await Promise.all([
    withGuide ? nowAndNext(db, who, { channelIds: ids, at }) : undefined,
    include.includes('sources') ? sourcesOf(db, ids) : undefined,
  ]);
  return rows.map((row) => {
    const { now, next } = programs?.get(row.id) ?? {};
    return {
      ...toChannel(row),
      ...(include.includes('now') && now && { now }),
      ...(include.includes('next') && next && { next }),
      ...(sources && { sources: sources.get(row.id) ?? [] }),
    };
  });
}

function toChannel(row: ShownChannel): LiveChannel {
  return {
    id: row.id,
    libraryId: row.library_id,
    number: row.number,
    name: row.name,
    ...textsOf(row),
    kind: row.kind,
    ...(row.logo && { logo: row.logo }),
    enabled: row.enabled,
    favorite: row.favorite,
    hd: row.hd,
    drm: row.drm,
    ...guideOf(row),
    lockedFields: row.locked_fields,
    recording: row.recording,
    addedAt: iso(row.added_at),
  };
}

function textsOf(row: ShownChannel): Pick<LiveChannel, 'callSign' | 'group' | 'ageRating' | 'language'> {
  const { call_sign: callSign, group_name: group, age_rating: ageRating, language } = row;
  return {
    ...(callSign && { callSign }),
    ...(group && { group }),
    ...(ageRating && { ageRating }),
    ...(language && { language }),
  };
}

function guideOf(row: ShownChannel): Pick<LiveChannel, 'guide'> {
  const { guide_source_id: guideSourceId, guide_channel_id: guideChannelId, matched_by: matchedBy } = row;
  return guideSourceId && guideChannelId && matchedBy ? { guide: { guideSourceId, guideChannelId, matchedBy } } : {};
}

interface SourceFacts {
  id: string;
  channel_id: string;
  tuner_id: string;
  tuner_name: string;
  remote_number: string;
  remote_name: string;
  remote_group: string | null;
  tvg_id: string | null;
  quality: LiveSource['quality'] | null;
  position: number;
  enabled: boolean;
  missed_scans: number;
  last_test: LiveTest | null;
}

/** Sources of channels in the order in which they are tried. */
async function sourcesOf(db: Db, ids: readonly string[]): Promise<Map<string, LiveSource[]>> {
  const rows = await rowsOf<SourceFacts>(
    db,
    `select s.*, t.name as tuner_name from live_sources s join live_tuners t on t.id = s.tuner_id
     where s.channel_id = any(?::uuid[]) order by s.position, t.priority desc, s.id`,
    [[...ids]],
  );
  const byChannel = Map.groupBy(rows, (row) => row.channel_id);
  return new Map([...byChannel].map(([id, own]) => [id, own.map(toSource)]));
}

function toSource(row: SourceFacts, priority: number): LiveSource {
  return {
    ...{ id: row.id, tunerId: row.tuner_id, tunerName: row.tuner_name },
    ...{ remoteNumber: row.remote_number, remoteName: row.remote_name, priority },
    ...(row.remote_group && { remoteGroup: row.remote_group }),
    ...(row.tvg_id && { tvgId: row.tvg_id }),
    ...(row.quality && { quality: row.quality }),
    enabled: row.enabled,
    missing: row.missed_scans > 0,
    ...(row.last_test && { lastTest: row.last_test }),
  };
}
