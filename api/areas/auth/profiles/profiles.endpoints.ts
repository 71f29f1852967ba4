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
import { getProfile, getProfileRow, insertProfile, type ProfileRow, updateProfileRow } from './profiles.store.ts';
import { enterProfile } from './select-profile.ts';

export const createProfile = defineEndpoint({
  operationId: 'createProfile',
  method: 'post',
  path: '/auth/profiles',
  summary: 'Add a viewer to my account',
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
  summary: 'Change a profile of my account',
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

/** Limits are the main profile's to see. */
function shownTo({ who }: Call, profile: Profile): Profile {
  if (who.mainProfile) return profile;
  const { limits: _limits, ...shown } = profile;
  return shown;
}

export const setProfileAvatar = defineEndpoint({
  operationId: 'setProfileAvatar',
  method: 'put',
  path: '/auth/profiles/:id/avatar',
  summary: 'Give a profile a picture',
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

/** What a profile other than the main one may change of itself. */
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
  if (role === 'child') throw new ApiError('FORBIDDEN', 'Accounts of this role may not', { by: 'role' });
}

export const deleteProfile = defineEndpoint({
  operationId: 'deleteProfile',
  method: 'delete',
  path: '/auth/profiles/:id',
  summary: 'Remove a profile with what it watched',
  access: { person: true },
  anyHour: true,
  params: IdParams,
  answer: none(),
  errors: ['FORBIDDEN', 'CONFLICT'],

  async handle({ params }, call) {
    requireConfirmedMain(call.who, call.now);
    const { db, who } = call;
    if (await deletedLately(call, params.id)) return;
    const row = await getProfileRow(db, who.accountId, params.id);
    if (row.main) throw conflict('main-profile', 'The main profile goes with its account');
    await removeProfile(call, row);
  },
});

/** Repeating it within a day is no error. */
async function deletedLately({ db, who }: Call, profileId: string): Promise<boolean> {
  const row = await db('audit_log')
    .where({ account_id: who.accountId, action: 'profile-deleted' })
    .whereRaw(`details->>'profileId' = ? and at > now() - interval '24 hours'`, [profileId])
    .first('id');
  return row !== undefined;
}

export const selectProfile = defineEndpoint({
  operationId: 'selectProfile',
  method: 'post',
  path: '/auth/profiles/:id/select',
  summary: 'Put this session into a profile',
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
