import { extname } from 'node:path';
import {
  findImplicit,
  findSession,
  insertSession,
  refuseFromAway,
  stopSession,
  takePlace,
  touchBytes,
} from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import type { FileSource } from './sources.view.ts';

/**
 * The playback session that a direct stream counts for: the one named, which must be the caller's and open, or one that
 * opens by itself for this device and file and takes a place among the account's streams.
 */
export async function directSession(call: Call, source: FileSource, named: string | undefined): Promise<string> {
  const id = named === undefined ? await implicitSession(call, source) : await openSession(call, source, named);
  await touchBytes(call.db, id);
  return id;
}

async function openSession(call: Call, source: FileSource, id: string): Promise<string> {
  const row = await findSession(call.db, id);
  const mine = row?.account_id === call.who.accountId && row.item_id === source.itemId;
  if (!row || !mine || row.state === 'stopped') throw notFound();
  return row.id;
}

async function implicitSession(call: Call, source: FileSource): Promise<string> {
  const { accountId, deviceId } = call.who;
  const at = { accountId, deviceId, fileId: source.id };
  refuseFromAway(call);
  const known = await findImplicit(call.db, at);
  if (known) return known.id;
  return call.transact(async ({ db, who, client, deps }) => {
    const serverCap = deps.settings.get('playback.maxStreams');
    const replaced = await takePlace(db, who, { deviceId, encodes: false, serverCap });
    const again = await findImplicit(db, at); // two requests at once open one
    if (again) return again.id;
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
    return row.id;
  });
}

/** PlaybackDecision of a file that is sent as it is. */
function decisionOf(source: FileSource): object {
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
