import type { Db } from '../db.ts';
import { newId } from '../ids.ts';
import type { Row } from '../typed-query.ts';

declare module '../column-types.ts' {
  interface ColumnTypes {
    'live_renditions.options': RenditionOptions;
  }
}

/** How a rendition is encoded. */
export interface RenditionOptions {
  /** Absent for sound alone. */
  video?: {
    width: number;
    height: number;
    bitrate: number;
    deinterlace: boolean;
    fieldRate: boolean;
    /** Index of a stream of picture subtitles that are burned in. */
    pictures?: number;
  };
  audioBitrate: number;
  /** The pictures are copied. */
  copiesVideo?: boolean;
  /** Its segments are fragmented MP4. */
  fragments?: boolean;
}

export type RenditionRow = Row<'live_renditions'>;

/** A worker that does not renew for this long has lost the rendition. */
const LEASE = `interval '10 seconds'`;
const FREE = '(lease_until is null or lease_until < now())';
/** A rendition without viewers for this long is stopped. */
const WANTED = `wanted_at > now() - interval '30 seconds'`;
/** Faults in a row after which a rendition is given up. */
const MOST_FAULTS = 3;

/** The name under which segments of a rendition are stored, in place of the channel's id. */
export const renditionTrack = (channelId: string, rendition: string): string =>
  rendition === 'source' ? channelId : `${channelId}~${rendition}`;

/** A rendition of a recording is one of its channel with the id of the recording in its name. */
export const recordedRendition = (rendition: string, recordingId: string | undefined): string =>
  recordingId === undefined || rendition === 'source' ? rendition : `${rendition}@${recordingId}`;

/** The rung of the ladder, and the recording whose parts are encoded in place of the channel's segments. */
export function readRendition(name: string): { rung: string; recordingId: string | undefined } {
  const [rung = '', recordingId] = name.split('@');
  return { rung, recordingId };
}

/** Opens the rendition of a channel, or joins the open one. Returns its id. */
export async function wantRendition(
  db: Db,
  { channelId, rendition, options }: { channelId: string; rendition: string; options: RenditionOptions },
): Promise<string> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `insert into live_renditions (id, channel_id, rendition, options) values (?, ?, ?, ?)
     on conflict (channel_id, rendition) where ended_at is null do update set wanted_at = now() returning id`,
    [newId(), channelId, rendition, JSON.stringify(options)],
  );
  return rows[0]?.id ?? '';
}

/** Keeps the rendition encoded. False when it has ended. */
export async function keepRenditionWanted(db: Db, channelId: string, rendition: string): Promise<boolean> {
  const kept = await db('live_renditions')
    .where({ channel_id: channelId, rendition, ended_at: null })
    .update({ wanted_at: db.fn.now() });
  return kept > 0;
}

/** Whether a rendition of a channel is encoded or waits for a worker. */
export async function isRenditionOpen(db: Db, channelId: string, rendition: string): Promise<boolean> {
  const row = await db('live_renditions').where({ channel_id: channelId, rendition, ended_at: null }).first('id');
  return row !== undefined;
}

/** The rendition that ended last, for one that is to go on. */
export async function findRendition(db: Db, channelId: string, rendition: string): Promise<RenditionRow | undefined> {
  return db('live_renditions').where({ channel_id: channelId, rendition }).orderBy('created_at', 'desc').first();
}

/** Claims a wanted rendition without a worker: this one, or the one that waits longest. */
export async function claimRendition(db: Db, holder: string, id?: string): Promise<RenditionRow | undefined> {
  const waiting = db('live_renditions')
    .select('id')
    .where({ ended_at: null, ...(id && { id }) })
    .andWhereRaw(`${FREE} and ${WANTED}`)
    .orderBy('created_at')
    .limit(1)
    .forUpdate()
    .skipLocked();
  const [row] = await db('live_renditions')
    .update({ lease_holder: holder, lease_until: db.raw(`now() + ${LEASE}`) })
    .whereIn('id', waiting)
    .returning('*');
  return row;
}

/**
 * Renews the lease; `isGood` forgets former faults. False when another worker has the rendition, or when no one wants it
 * any more.
 */
export async function renewRendition(
  db: Db,
  { id, holder, isGood }: { id: string; holder: string; isGood: boolean },
): Promise<boolean> {
  const renewed = await db('live_renditions')
    .where({ id, lease_holder: holder, ended_at: null })
    .andWhereRaw(WANTED)
    .update({ lease_until: db.raw(`now() + ${LEASE}`), ...(isGood && { faults: 0 }) });
  return renewed > 0;
}

/** Gives the lease back, to another worker or for good; after repeated faults the rendition ends. */
export async function releaseRendition(
  db: Db,
  { id, holder, isFault }: { id: string; holder: string; isFault: boolean },
): Promise<void> {
  await db('live_renditions')
    .where({ id, lease_holder: holder, ended_at: null })
    .update({
      lease_holder: null,
      lease_until: null,
      faults: db.raw('faults + ?', [isFault ? 1 : 0]),
      ended_at: db.raw(`case when not ${WANTED} or faults + ? >= ? then now() end`, [isFault ? 1 : 0, MOST_FAULTS]),
    });
}

/** Ends renditions that no one wants and no worker has. */
export async function sweepRenditions(db: Db): Promise<void> {
  await db('live_renditions')
    .where({ ended_at: null })
    .andWhereRaw(`${FREE} and not ${WANTED}`)
    .update({ ended_at: db.fn.now() });
}
