import { z } from 'zod';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import { type Channels, defaultsOf, kindNames, kindOf, type NotificationKind } from './kinds.ts';
import { Preferences } from './notifications.schemas.ts';

export type ProfilePreferences = z.output<typeof Preferences>;

/** The preferences of a profile that set none. */
export const noPreferences: ProfilePreferences = Preferences.parse({ kinds: {} });

export async function preferencesOf(db: Db, profileIds: readonly string[]): Promise<Map<string, ProfilePreferences>> {
  const rows: { profile_id: string; document: unknown }[] = await db('notification_preferences')
    .whereIn('profile_id', profileIds)
    .select('profile_id', 'document');
  return new Map(rows.map((row) => [row.profile_id, z.parse(Preferences, row.document)]));
}

export async function storePreferences(
  db: Db,
  profileId: string,
  { document, at }: { document: z.input<typeof Preferences>; at: Date },
): Promise<void> {
  await db('notification_preferences')
    .insert({ profile_id: profileId, document: JSON.stringify(document), updated_at: at })
    .onConflict('profile_id')
    .merge();
}

export const channelsOf = (preferences: ProfilePreferences, kind: NotificationKind): Channels =>
  preferences.kinds[kind] ?? defaultsOf(kind);

/** Turns mail off for the kinds that `chosen` selects; all other preferences stay. */
export async function switchMailOff(
  db: Db,
  profileId: string,
  chosen: (kind: NotificationKind, email: Channels['email']) => boolean,
): Promise<void> {
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 15))', [profileId]);
  const preferences = (await preferencesOf(db, [profileId])).get(profileId) ?? noPreferences;
  const off = kindNames.filter((kind) => {
    const { email } = channelsOf(preferences, kind);
    return email !== 'off' && chosen(kind, email);
  });
  if (off.length === 0) return;
  const changed = off.map((kind) => [kind, { ...channelsOf(preferences, kind), email: 'off' as const }]);
  const document = { ...preferences, kinds: { ...preferences.kinds, ...Object.fromEntries(changed) } };
  await storePreferences(db, profileId, { document, at: new Date() });
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const MINUTE_MS = 60_000;

/** When push and mail may be sent: undefined for now, or the end of a pause or of quiet hours in the zone of the profile. */
export function heldUntil(
  preferences: ProfilePreferences,
  { now, zone, urgent }: { now: Date; zone: string; urgent: boolean },
): Date | undefined {
  const pause = preferences.pausedUntil ? new Date(preferences.pausedUntil) : undefined;
  if (pause && pause > now) {
    const { pausedUntil: _over, ...then } = preferences;
    return heldUntil(then, { now: pause, zone, urgent }) ?? pause; // a pause may end in quiet hours
  }
  const { quiet } = preferences;
  if (!quiet || (urgent && quiet.urgentThrough)) return undefined;
  const left = quietMinutes(quiet, clockIn(zone, now));
  if (left === 0) return undefined;
  const end = new Date((Math.floor(now.getTime() / MINUTE_MS) + left) * MINUTE_MS);
  const late = clockIn(zone, end).minute - minutesOf(quiet.to); // daylight saving may change the clock in between
  return new Date(end.getTime() - (((late + 2160) % 1440) - 720) * MINUTE_MS);
}

/** Minutes until the present quiet hours end; 0 outside them. Hours over midnight belong to the day on which they begin. */
function quietMinutes(
  quiet: NonNullable<ProfilePreferences['quiet']>,
  { day, minute }: { day: number; minute: number },
): number {
  const [from, to] = [minutesOf(quiet.from), minutesOf(quiet.to)];
  if (to > from) return minute >= from && minute < to && isDay(quiet.days, day) ? to - minute : 0;
  if (minute >= from && isDay(quiet.days, day)) return 1440 - minute + to;
  return minute < to && isDay(quiet.days, (day + 6) % 7) ? to - minute : 0;
}

const isDay = (days: readonly string[], day: number): boolean => days.length === 0 || days.includes(DAYS[day] ?? '');

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * 60 + minutes;
}

function clockIn(zone: string, at: Date): { day: number; minute: number } {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(at);
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? '';
  const day = DAYS.findIndex((name) => part('weekday').toLowerCase().startsWith(name));
  return { day, minute: Number(part('hour')) * 60 + Number(part('minute')) };
}

interface About {
  kind: NotificationKind;
  libraryId?: string | undefined;
  itemId?: string | undefined;
  actorId?: string | undefined;
}

/** Whether library, item or person are muted. Kinds that are fixed ignore it. */
export function isMuted({ muted }: ProfilePreferences, { libraryId, itemId, actorId }: About): boolean {
  const has = (ids: readonly string[], id: string | undefined): boolean => id !== undefined && ids.includes(id);
  return has(muted.libraryIds, libraryId) || has(muted.itemIds, itemId) || has(muted.userIds, actorId);
}

type Sent = Pick<Row<'notifications'>, 'kind' | 'library_id' | 'item_id' | 'actor_id'>;

/** Whether the current preferences still let a notification go out by this channel. */
export function stillPreferred(
  preferences: ProfilePreferences,
  sent: Sent,
  way: (channels: Channels) => boolean,
): boolean {
  const { kind, library_id: libraryId, item_id: itemId, actor_id: actorId } = sent;
  const about = {
    kind,
    ...{ libraryId: libraryId ?? undefined, itemId: itemId ?? undefined, actorId: actorId ?? undefined },
  };
  const muted = !kindOf(kind).fixed && isMuted(preferences, about);
  return !muted && way(channelsOf(preferences, kind));
}
