import type { z } from 'zod';
import { getAccount } from '#areas/accounts/public.ts';
import { pendingAddress } from '#areas/email/public.ts';
import { hoursOf } from '#identity/account-row.ts';
import { closesAt, mayWatch, resumesAt } from '#identity/viewing-hours.ts';
import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import { existing } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Me } from '../auth.schemas.ts';
import { listProfiles } from '../sign-in/sessions.store.ts';
import { owesSecondFactor } from '../sign-in/sign-in.ts';

/** Everything that an app needs at start. */
export async function readMe(call: Call): Promise<z.input<typeof Me>> {
  const { db, who } = call;
  const row = existing(await db('accounts').where({ id: who.accountId }).first());
  const granted = await db('library_access').where({ account_id: who.accountId }).select('library_id');
  const profiles = await listProfiles(db, who.accountId, { limits: who.mainProfile });
  const profile = profiles.find((one) => one.id === who.profileId);
  if (!profile) throw new Error('a credential speaks for a profile');
  return {
    account: await getAccount(db, who.accountId),
    profile,
    profiles,
    credential: credentialOf(call),
    permissions: [...who.permissions],
    access: {
      libraries: { mode: row.library_mode, ids: granted.map((one) => one.library_id) },
      ageLimit: row.age_limit,
      hideUnrated: row.hide_unrated,
      viewingHours: row.viewing_hours,
      timeZone: row.hours_zone,
      limits: { ...row.limits },
      restrictions: restrictionsOf(call),
    },
    viewing: await viewingOf(call, row),
    email: emailOf(row, await pendingAddress(db, who.accountId)),
    mustChangePassword: row.must_change_password,
    mustAddTwoFactor: owesSecondFactor(call, { role: who.role, factors: row.factors }),
    confirmedUntil: iso(who.confirmedUntil ?? null),
    language: row.language,
    timeZone: row.time_zone,
    discoverable: row.discoverable,
    app: appSettings(call),
  };
}

/** A page that the server has switched off is denied to everyone, so that apps show no way to it. */
function restrictionsOf({ deps: { settings }, who }: Call): z.input<typeof Me>['access']['restrictions'] {
  return { ...who.restrictions, ...(!settings.get('discover.enabled') && { discover: 'deny' }) };
}

function appSettings({ deps: { settings } }: Call): z.input<typeof Me>['app'] {
  const mapTiles = settings.get('photos.mapTiles');
  const tools = ['subtitles.tools.find', 'subtitles.tools.sync', 'subtitles.tools.generate'] as const;
  return {
    watchedPercent: settings.get('playback.watchedPercent'),
    ...(mapTiles && { mapTiles }),
    subtitleTools: tools.some((tool) => settings.get(tool) !== null),
    maxUploadBytes: settings.get('uploads.maxFileBytes'),
  };
}

/** For an account without an address the pending one is shown instead. */
function emailOf(
  row: Row<'accounts'>,
  pending: Awaited<ReturnType<typeof pendingAddress>>,
): z.input<typeof Me>['email'] {
  const own = row.email === null ? undefined : { address: row.email, verified: row.email_verified };
  if (!pending) return own ?? null;
  if (!pending.mailed) return { address: pending.address, verified: false };
  return { ...(own ?? { address: pending.address, verified: false }), pending: pending.address };
}

function credentialOf({ who }: Call): z.input<typeof Me>['credential'] {
  if (who.kind === 'key')
    return { kind: 'api-key', ...(who.keyId && { keyId: who.keyId }), scopes: [...(who.scopes ?? [])] };
  return { kind: 'session', ...(who.sessionId && { sessionId: who.sessionId }) };
}

async function viewingOf({ db, who, now, deps }: Call, row: Row<'accounts'>): Promise<z.input<typeof Me>['viewing']> {
  const { limits } = existing(await db('profiles').where({ id: who.profileId }).first('limits'));
  const hours = hoursOf({ role: who.role, viewing_hours: row.viewing_hours, profile_limits: limits });
  const zone = row.hours_zone ?? deps.settings.get('server.timeZone');
  if (mayWatch(hours, zone, now)) {
    const until = closesAt(hours, zone, now);
    return { allowed: true, ...(until && { until: iso(until) }) };
  }
  return { allowed: false, resumesAt: iso(resumesAt(hours, zone, now)) };
}
