import { requireConfirmed, requireConfirmedMain, requireGrownUp, requireMain } from '#identity/person.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { uploaded } from '#kernel/uploads.ts';
import { Profile, SignIn } from '../auth.schemas.ts';
import { AVATAR_BYTES, AVATAR_MEDIA, portrayed, setAvatar } from './avatar.ts';
import { removeProfile } from './delete-profile.ts';
import { ProfileChange, ProfileDraft, SelectProfile } from './profiles.schemas.ts';
import {
  getProfile,
  getProfileRow,
  insertProfile,
  type ProfileRow,
  updateProfileRow,
  wasDeletedLately,
} from './profiles.store.ts';
import { enterProfile } from './select-profile.ts';

export const createProfile = defineEndpoint({
  operationId: 'createProfile',
  method: 'post',
  path: '/auth/profiles',
  summary: 'Create a profile in the account',
  description:
    'Needs the main profile. An account has at most eight profiles (409 `too-many-profiles`) with distinct names (409 `duplicate-name`); child and guest accounts have only the main one. Limits are intersected with those of the account.',
  access: { person: true },
  anyHour: true,
  body: ProfileDraft,
  answer: json(201, Profile),
  errors: ['FORBIDDEN', 'CONFLICT'],

  async handle({ body }, call) {
    requireMain(call.who);
    requireGrownUp(call.who);
    const id = await insertProfile(call.db, call.who.accountId, body);
    await audit(call, 'profile-created', { profileId: id });
    return getProfile(call.db, call.who.accountId, id);
  },
});

export const updateProfile = defineEndpoint({
  operationId: 'updateProfile',
  method: 'patch',
  path: '/auth/profiles/:id',
  summary: 'Change a profile of the account',
  description:
    'The main profile changes every profile of its account; another profile changes its own name, color, language, time zone, country and avatar. Changing the PIN of the main profile needs a confirmed session, and the main profile has no limits of its own (400). Changes take effect with the next request.',
  access: { person: true },
  anyHour: true,
  params: IdParams,
  body: ProfileChange,
  answer: json(200, Profile),
  errors: ['FORBIDDEN', 'CONFLICT'],

  async handle({ params, body }, call) {
    const row = await getProfileRow(call.db, call.who.accountId, params.id);
    refuseChange(call, row, body);
    await updateProfileRow(call.db, row, body);
    await audit(call, 'profile-changed', { profileId: row.id, fields: Object.keys(body) });
    return shownTo(call, await getProfile(call.db, call.who.accountId, row.id));
  },
});

/** Only the main profile sees limits. */
function shownTo({ who }: Call, profile: Profile): Profile {
  if (who.mainProfile) return profile;
  const { limits: _limits, ...shown } = profile;
  return shown;
}

export const setProfileAvatar = defineEndpoint({
  operationId: 'setProfileAvatar',
  method: 'put',
  path: '/auth/profiles/:id/avatar',
  summary: 'Upload the picture of a profile',
  description:
    'The body is the image itself: JPEG, PNG, WebP, AVIF or GIF (first frame), at most 8 MiB. It is cropped to a square and encoded again without metadata. Other types, SVG included, are 415. `user:manage` also covers profiles of child and guest accounts.',
  access: { person: true },
  anyHour: true,
  params: IdParams,
  body: uploaded,
  bodyMedia: AVATAR_MEDIA,
  maxBodyBytes: AVATAR_BYTES,
  answer: json(200, Profile),
  errors: ['FORBIDDEN', 'MEDIA_UNSUPPORTED_CODEC'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    const row = await portrayed(call, params.id);
    await setAvatar(call, row, body);
    return shownTo(call, await getProfile(call.db, row.account_id, row.id));
  },
});

/** Fields that a profile other than the main one may change on itself. */
const OWN: readonly string[] = ['name', 'color', 'language', 'timeZone', 'country', 'avatar'];

function refuseChange({ who, now }: Call, row: ProfileRow, body: ProfileChange): void {
  const own = row.id === who.profileId && Object.keys(body).every((field) => OWN.includes(field));
  if (!own) requireMain(who);
  if (body.private !== undefined || body.keepHistory !== undefined) requireNoChild(who.role);
  if (row.main && body.pin !== undefined) requireConfirmed(who, now);
  if (row.main && body.limits)
    throw invalid(['body', 'limits'], 'main_profile', 'the main profile has the limits of its account');
}

function requireNoChild(role: string): void {
  if (role === 'child') throw new ApiError('FORBIDDEN', 'Accounts of this role cannot change this', { by: 'role' });
}

export const deleteProfile = defineEndpoint({
  operationId: 'deleteProfile',
  method: 'delete',
  path: '/auth/profiles/:id',
  summary: 'Delete a profile',
  description:
    'Needs the main profile and a confirmed session. Its sessions end at once, a job removes its watch state, and its collections and playlists pass to the main profile. The main profile cannot be deleted (409 `main-profile`). Repeating it within a day is 204.',
  access: { person: true },
  anyHour: true,
  params: IdParams,
  answer: none(),
  errors: ['FORBIDDEN', 'CONFLICT'],

  async handle({ params }, call) {
    requireConfirmedMain(call.who, call.now);
    const { db, who } = call;
    if (await wasDeletedLately(db, who.accountId, params.id)) return;
    const row = await getProfileRow(db, who.accountId, params.id);
    if (row.main) throw conflict('main-profile', 'The main profile is deleted with its account');
    await removeProfile(call, row);
  },
});

export const selectProfile = defineEndpoint({
  operationId: 'selectProfile',
  method: 'post',
  path: '/auth/profiles/:id/select',
  summary: 'Switch the session to a profile',
  description:
    'Returns a new access token and keeps the refresh token; access tokens of the former profile are 401 from then on. A profile with a PIN needs it unless the session is confirmed: a wrong one is 403 with `details.triesLeft`, and five wrong ones in 15 minutes are 429.',
  access: { person: true },
  anyHour: true,
  params: IdParams,
  body: SelectProfile,
  optionalBody: true,
  answer: json(200, SignIn),
  errors: ['FORBIDDEN', 'RATE_LIMITED'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    return enterProfile(call, params.id, body.pin);
  },
});
