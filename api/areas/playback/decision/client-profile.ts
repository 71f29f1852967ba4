import { updateDeviceRow } from '#identity/devices.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import type { ClientProfile } from '../playback.schemas.ts';
import { completeProfile, type Profile } from './profiles.ts';

const KEPT = '90 days';

/**
 * The profile in the request, which is stored for the device, or the last one of this X-Client-Id. Throws 400 with path
 * client when there is neither.
 */
export async function profileOf(
  call: Call,
  sent: ClientProfile | undefined,
  dryRun: boolean,
): Promise<{ given: ClientProfile; profile: Profile }> {
  const given = sent ?? (await keptProfile(call));
  if (!given)
    throw invalid(['body', 'client'], 'required', 'a profile is required, because none is stored for this client');
  const profile = completeProfile(given);
  if (!profile) throw invalid(['body', 'client', 'builtIn'], 'unknown_profile', 'there is no such built-in profile');
  if (sent && !dryRun) await keepProfile(call, sent);
  return { given, profile };
}

async function keptProfile({ db, who }: Call): Promise<ClientProfile | undefined> {
  if (!who.deviceId) return undefined;
  const row = await db('devices')
    .where({ id: who.deviceId })
    .whereRaw(`client_profile_at > now() - interval '${KEPT}'`)
    .first('client_profile');
  return row?.client_profile ?? undefined;
}

async function keepProfile({ db, who }: Call, profile: ClientProfile): Promise<void> {
  if (!who.deviceId) return;
  const change = { client_profile: JSON.stringify(profile), client_profile_at: new Date() };
  await updateDeviceRow(db, { id: who.deviceId }, change);
}
