import { extname } from 'node:path';
import {
  findImplicit,
  findSession,
  insertSession,
  refuseRemote,
  type SessionRow,
  stopSession,
  takePlace,
  touchBytes,
} from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import type { SourceFile } from './sources.view.ts';

/**
 * The playback session of a direct stream: the named one, which must be the caller's and open, or one that opens for
 * this device and file and counts towards the account's stream limit.
 */
export async function directSession(call: Call, source: SourceFile, named: string | undefined): Promise<string> {
  const { id, last_bytes_at: last } =
    named === undefined ? await implicitSession(call, source) : await openSession(call, source, named);
  if (Date.now() - last.getTime() > TOUCHED_MS) await touchBytes(call.db, id);
  return id;
}

/** Players send many range requests a second, so a session is touched at most once in this time. */
const TOUCHED_MS = 5000;
type Session = Pick<SessionRow, 'id' | 'last_bytes_at'>;

async function openSession(call: Call, source: SourceFile, id: string): Promise<Session> {
  const row = await findSession(call.db, id);
  const mine = row?.account_id === call.who.accountId && row.item_id === source.itemId;
  if (!row || !mine || row.state === 'stopped') throw notFound();
  return row;
}

async function implicitSession(call: Call, source: SourceFile): Promise<Session> {
  const { accountId, deviceId } = call.who;
  const at = { accountId, deviceId, fileId: source.id };
  refuseRemote(call);
  const known = await findImplicit(call.db, at);
  if (known) return known;
  return call.transact(async ({ db, who, client, deps }) => {
    const serverCap = deps.settings.get('playback.maxStreams');
    const replaced = await takePlace(db, who, { deviceId, encodes: false, serverCap });
    const again = await findImplicit(db, at); // two concurrent requests open one session
    if (again) return again;
    for (const id of replaced) await stopSession(db, id, { reason: 'replaced' });
    const row = await insertSession(
      db,
      {
        id: newId(),
        account_id: accountId,
        profile_id: who.profileId,
        item_id: source.itemId,
        file_id: source.id,
        library_id: source.libraryId,
        device_id: deviceId ?? null,
        client_name: client.name ?? null,
        address: client.address,
        is_remote: !client.local,
        method: 'direct_play',
        decision: decisionOf(source),
        profile: null,
        url: `/api/v1/files/${source.id}/stream`,
        transcode_session_id: null,
        position_ms: 0,
        duration_ms: source.durationMs || null,
        implicit: true,
        encodes: false,
      },
      [],
    );
    return row;
  });
}

/** PlaybackDecision of a file that is sent unchanged. */
function decisionOf(source: SourceFile): object {
  return {
    method: 'direct_play',
    reasons: [],
    fileId: source.id,
    container: source.probe?.container ?? extname(source.path).slice(1),
    bitrate: source.probe?.bitrate ?? 0,
    quality: 'original',
    alternatives: [],
  };
}
