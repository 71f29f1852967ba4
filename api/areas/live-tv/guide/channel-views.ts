import { z } from 'zod';
import type { Principal } from '#identity/principal.ts';
import { Id, ImageRef, iso, Timestamp } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

export const LiveChannel = z
  .object({
    id: Id.describe('Of the item'),
    libraryId: Id,
    number: z.string().meta({ example: '2.1' }),
    name: z.string().meta({ example: 'One' }),
    callSign: z.string().meta({ example: 'WONE' }).optional(),
    kind: z.enum(['tv', 'radio']),
    group: z.string().meta({ example: 'News' }).optional(),
    logo: ImageRef.optional(),
    enabled: z.boolean(),
    favorite: z.boolean().describe('Of the profile'),
    hd: z.boolean(),
    drm: z.boolean(),
    ageRating: z.string().meta({ example: '12' }).optional(),
    language: z.string().meta({ example: 'en' }).optional(),
    guide: z
      .object({
        guideSourceId: Id,
        guideChannelId: z.string().meta({ example: 'one.example' }),
        matchedBy: z.enum(['id', 'name', 'number', 'hand']),
      })
      .optional(),
    lockedFields: z.array(z.string()).meta({ example: ['name'] }),
    recording: z.boolean().describe('Right now'),
    addedAt: Timestamp,
  })
  .meta({ id: 'LiveChannel' });
export type LiveChannel = z.output<typeof LiveChannel>;

interface ChannelRow {
  id: string;
  library_id: string;
  number: string;
  name: string;
  call_sign: string | null;
  kind: LiveChannel['kind'];
  group_name: string | null;
  logo: unknown;
  enabled: boolean;
  favorite: boolean;
  hd: boolean;
  drm: boolean;
  age_rating: string | null;
  language: string | null;
  guide_source_id: string | null;
  guide_channel_id: string | null;
  matched_by: 'id' | 'name' | 'number' | 'hand' | null;
  locked_fields: string[];
  added_at: Date;
}

/** Channels by their ids. The caller must have checked that they are visible. */
export async function channelViews(db: Db, who: Principal, ids: readonly string[]): Promise<Map<string, LiveChannel>> {
  const rows = await rowsOf<ChannelRow>(
    db,
    `select c.*, i.artwork -> 'logo' as logo,
            exists (select from live_favorites f where f.channel_id = c.id and f.profile_id = ?) as favorite
       from live_channels c join items i on i.id = c.id where c.id = any(?::uuid[])`,
    [who.profileId, [...ids]],
  );
  return new Map(rows.map((row) => [row.id, toChannel(row)]));
}

function toChannel(row: ChannelRow): LiveChannel {
  const logo = ImageRef.safeParse(row.logo).data;
  const { guide_source_id: source, guide_channel_id: channel, matched_by: matchedBy } = row;
  return {
    ...{ id: row.id, libraryId: row.library_id, number: row.number, name: row.name, kind: row.kind },
    ...(row.call_sign !== null && { callSign: row.call_sign }),
    ...(row.group_name !== null && { group: row.group_name }),
    ...(logo && { logo }),
    ...{ enabled: row.enabled, favorite: row.favorite, hd: row.hd, drm: row.drm },
    ...(row.age_rating !== null && { ageRating: row.age_rating }),
    ...(row.language !== null && { language: row.language }),
    ...(source && channel && matchedBy && { guide: { guideSourceId: source, guideChannelId: channel, matchedBy } }),
    ...{ lockedFields: row.locked_fields, recording: false, addedAt: iso(row.added_at) },
  };
}
