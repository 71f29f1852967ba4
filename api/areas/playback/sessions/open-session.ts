import type { VisibleItem } from '#areas/items/public.ts';
import { insertSession, type SessionDraft, type SessionRow } from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { PlaybackDecision } from '../playback.schemas.ts';

/** A session before it is opened: its item and decision, and the columns that differ between files, channels and recordings. */
export interface OpenedSession
  extends Pick<SessionDraft, 'id' | 'url' | 'position_ms' | 'duration_ms' | 'wish' | 'live'> {
  item: VisibleItem;
  /** The item itself where no file is played. */
  fileId?: string;
  decision: PlaybackDecision;
  /** The profile as the client sent it. */
  profile: object;
  transcodeSessionId?: string | undefined;
  body: { castDeviceId?: string | undefined; roomId?: string | undefined; queueId?: string | undefined };
}

/** Address of the list of a session that plays from segments. */
export const liveAddress = (sessionId: string): string => `/api/v1/live/sessions/${sessionId}/master.m3u8`;

/** Opens a session that the caller started: of a file, a channel or a recording that grows. */
export async function openSession(call: Call, opened: OpenedSession): Promise<SessionRow> {
  const { db, who, client } = call;
  const { item, fileId, decision, profile, transcodeSessionId, body, ...columns } = opened;
  return insertSession(
    db,
    {
      ...columns,
      account_id: who.accountId,
      profile_id: who.profileId,
      item_id: item.id,
      file_id: fileId ?? item.id,
      library_id: item.libraryId,
      device_id: who.deviceId,
      client_name: client.name,
      address: client.address,
      is_remote: !client.local,
      method: decision.method,
      decision,
      profile,
      transcode_session_id: transcodeSessionId ?? null,
      implicit: false,
      encodes: decision.method === 'transcode',
      cast_device_id: body.castDeviceId,
      room_id: body.roomId,
      queue_id: body.queueId,
    },
    decision.reasons,
  );
}
