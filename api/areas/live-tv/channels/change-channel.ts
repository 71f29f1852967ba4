import { changeChannelItems, emitChannels } from '#areas/libraries/public.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { markStale } from '../schedule/schedule.store.ts';
import type { ChannelChange, lockable } from './channels.schemas.ts';
import { type ChannelRow, deriveFromSources } from './channels.store.ts';
import { getChannel } from './channels.view.ts';
import { isGuideChannel } from './guide.ts';
import { removeEmpty, splitOff } from './merge.ts';
import { numberOrder, wholeOf } from './numbers.ts';

type Lockable = (typeof lockable)[number];

/** Changes a channel, and returns its id, or that of the one made of its sources. Throws 400, 404 and 409 as updateLiveChannel describes. */
export async function changeChannel(call: Call, id: string, change: ChannelChange): Promise<string> {
  const { db } = call;
  requireAllowed(call.who, 'liveTv');
  const { library_id: libraryId } = await getChannel(call, id);
  await db.raw('select id from libraries where id = ? for no key update', [libraryId]);
  const row = await db('live_channels').where({ id }).first();
  if (!row) throw notFound();
  const columns = columnsOf(row, change);
  await refuseTaken(db, { ...row, ...columns });
  await requireGuide(db, change.guide);
  await db('live_channels').where({ id }).update(columns);
  const after = { ...row, ...columns };
  await changeChannelItems(db, libraryId, [
    { id, title: after.name, number: wholeOf(after.number), ageRating: after.age_rating },
  ]);
  const more = change.sources ? await changeSources(db, after, change.sources) : [];
  await emitChannels(db, 'item.updated', { libraryId, ids: [id] });
  await emitChannels(db, 'item.added', { libraryId, ids: more });
  await markStale(db);
  const isThere = await db('live_channels').where({ id }).first('id');
  return isThere ? id : (more[0] ?? id);
}

function columnsOf(row: ChannelRow, change: ChannelChange): Partial<ChannelRow> & Pick<ChannelRow, 'locked_fields'> {
  const { number, name, group, kind, enabled, ageRating, language, guide } = change;
  const given = {
    number,
    ...(number !== undefined && { number_order: numberOrder(number) }),
    ...{ name, group_name: group, kind, enabled, age_rating: ageRating, language },
    ...(guide !== undefined && {
      guide_source_id: guide?.guideSourceId ?? null,
      guide_channel_id: guide?.guideChannelId ?? null,
      matched_by: guide ? ('hand' as const) : null,
    }),
  };
  const columns = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { ...columns, locked_fields: lockedAfter(row, change) };
}

/** A changed field is locked against the next scan, until it is unlocked. */
function lockedAfter(row: ChannelRow, { unlock = [], sources: _sources, ...set }: ChannelChange): string[] {
  const fields = Object.entries(set).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const kept = row.locked_fields.filter((name) => !unlock.includes(name as Lockable));
  return [...new Set([...kept, ...fields])].sort();
}

/** Throws 409 `number-taken` for the number of another enabled channel of the library. */
async function refuseTaken(db: Db, { id, library_id, number, enabled }: ChannelRow): Promise<void> {
  if (!enabled) return;
  const other = await db('live_channels').where({ library_id, number, enabled: true }).whereNot({ id }).first('id');
  if (other) throw conflict('number-taken', `Channel ${number} exists`, { channelId: other.id });
}

async function requireGuide(db: Db, guide: ChannelChange['guide']): Promise<void> {
  if (guide && !(await isGuideChannel(db, guide)))
    throw invalid(['body', 'guide'], 'unknown_guide_channel', 'a channel of a guide');
}

/** Makes the list that of the channel. Returns the ids of channels made of the sources that were taken from it. */
async function changeSources(
  db: Db,
  channel: ChannelRow,
  wanted: NonNullable<ChannelChange['sources']>,
): Promise<string[]> {
  const ids = wanted.map(({ id }) => id);
  if (new Set(ids).size < ids.length) throw invalid(['body', 'sources'], 'duplicate', 'a source twice');
  const given: { id: string; channel_id: string }[] = await db('live_sources as s')
    .join('live_channels as c', 'c.id', 's.channel_id')
    .whereIn('s.id', ids)
    .where('c.library_id', channel.library_id)
    .select('s.id', 's.channel_id');
  if (given.length < ids.length)
    throw invalid(['body', 'sources'], 'unknown_source', 'sources of channels of the library');
  const left = await db('live_sources').where({ channel_id: channel.id }).whereNotIn('id', ids).select('*');
  for (const [position, { id, enabled }] of wanted.entries())
    await db('live_sources')
      .where({ id })
      .update({ channel_id: channel.id, position, ...(enabled !== undefined && { enabled }) });
  const made = await splitOff(db, channel, left);
  const from = given.flatMap(({ channel_id: id }) => (id === channel.id ? [] : [id]));
  await settle(db, channel, { from, into: made[0] ?? channel.id });
  return made;
}

/** Channels that lost their last source go. */
async function settle(
  db: Db,
  channel: ChannelRow,
  { from, into }: { from: readonly string[]; into: string },
): Promise<void> {
  const libraryId = channel.library_id;
  await removeEmpty(db, { libraryId, ids: from, into: channel.id });
  await deriveFromSources(db, [channel.id, ...from]);
  await removeEmpty(db, { libraryId, ids: [channel.id], into });
}
