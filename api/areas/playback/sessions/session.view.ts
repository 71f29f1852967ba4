import type { SessionRow } from '#areas/viewing/public.ts';
import { may, type Principal } from '#identity/principal.ts';
import { iso } from '#kernel/schemas.ts';
import type { PlaybackDecision, PlaybackSession } from '../playback.schemas.ts';

export function toSession(row: SessionRow, who: Principal): PlaybackSession {
  return {
    id: row.id,
    userId: row.account_id,
    profileId: row.profile_id,
    itemId: row.item_id,
    mediaFileId: row.file_id,
    state: row.state,
    positionMs: row.position_ms,
    durationMs: row.duration_ms,
    rate: row.rate,
    decision: row.decision as PlaybackDecision,
    url: row.url,
    transcodeSessionId: row.transcode_session_id,
    client: {
      deviceId: row.device_id,
      name: row.client_name,
      platform: row.platform,
      ...(may(who, 'session:manage') && row.address ? { address: row.address } : {}),
    },
    isRemote: row.is_remote,
    castDeviceId: row.cast_device_id,
    roomId: row.room_id,
    queueId: row.queue_id,
    startedAt: iso(row.started_at),
    lastReportAt: iso(row.last_report_at),
    stoppedAt: iso(row.stopped_at),
    stopReason: row.stop_reason,
  };
}
