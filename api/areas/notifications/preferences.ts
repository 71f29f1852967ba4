import { z } from 'zod';
import type { Db } from '#platform/db.ts';
import { type Channels, defaultsOf, kindNames, kindOf, type NotificationKind } from './kinds.ts';
import { Preferences } from './notifications.schemas.ts';

export type Wishes = z.output<typeof Preferences>;

/** What a profile that said nothing wants. */
export const noPreferences: Wishes = Preferences.parse({ kinds: {} });

export async function preferencesOf(db: Db, profileIds: readonly string[]): Promise<Map<string, Wishes>> {
  const rows: { profile_id: string; document: unknown }[] = await db('notification_preferences')
    .whereIn('profile_id', profileIds)
    .select('profile_id', 'document');
  return new Map(rows.map((row) => [row.profile_id, z.parse(Preferences, row.document)]));
}

export const channelsOf = (wishes: Wishes, kind: NotificationKind): Channels => wishes.kinds[kind] ?? defaultsOf(kind);

/** Turns mail off for the kinds that `chosen` names, from what they are now; the rest stays as it is. */
export async function switchMailOff(
  db: Db,
  profileId: string,
  chosen: (kind: NotificationKind, email: Channels['email']) => boolean,
): Promise<void> {
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 15))', [profileId]);
  const wishes = (await preferencesOf(db, [profileId])).get(profileId) ?? noPreferences;
  const off = kindNames.filter((kind) => {
    const { email } = channelsOf(wishes, kind);
    return email !== 'off' && chosen(kind, email);
  });
  if (off.length === 0) return;
  const changed = off.map((kind) => [kind, { ...channelsOf(wishes, kind), email: 'off' as const }]);
  const document = JSON.stringify({ ...wishes, kinds: { ...wishes.kinds, ...Object.fromEntries(changed) } });
  await db('notification_preferences')
    .insert({ profile_id: profileId, document, updated_at: new Date() })
    .onConflict('profile_id')
    .merge();
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const MINUTE_MS = 60_000;

/** When push and email may go out: now (undefined), or the end of a pause or of quiet hours in the profile's time zone. */
export function heldUntil(
  wishes: Wishes,
  { now, zone, urgent }: { now: Date; zone: string; urgent: boolean },
): Date | undefined {
  const pause = wishes.pausedUntil ? new Date(wishes.pausedUntil) : undefined;
  if (pause && pause > now) {
    const { pausedUntil: _over, ...then } = wishes;
    return heldUntil(then, { now: pause, zone, urgent }) ?? pause; // it may end in quiet hours
  }
  const { quiet } = wishes;
  if (!quiet || (urgent && quiet.urgentThrough)) return undefined;
  const left = quietMinutes(quiet, clockIn(zone, now));
  if (left === 0) return undefined;
  const end = new Date((Math.floor(now.getTime() / MINUTE_MS) + left) * MINUTE_MS);
  const late = clockIn(zone, end).minute - minutesOf(quiet.to); // the clock was changed meanwhile
  return new Date(end.getTime() - (((late + 2160) % 1440) - 720) * MINUTE_MS);
}

/** Until the quiet hours of now end; 0 outside them. Hours over midnight belong to the day they begin on. */
function quietMinutes(quiet: NonNullable<Wishes['quiet']>, { day, minute }: { day: number; minute: number }): number {
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

/** Muted things make no notification; what cannot be off cannot be muted. */
export function isMuted({ muted }: Wishes, { libraryId, itemId, actorId }: About): boolean {
  const has = (ids: readonly string[], id: string | undefined): boolean => id !== undefined && ids.includes(id);
  return has(muted.libraryIds, libraryId) || has(muted.itemIds, itemId) || has(muted.userIds, actorId);
}

interface Told {
  kind: NotificationKind;
  library_id: string | null;
  item_id: string | null;
  actor_id: string | null;
}

/** Whether a notification is still to go out that way, by the wishes of now. */
export function stillPreferred(wishes: Wishes, told: Told, way: (channels: Channels) => boolean): boolean {
  const { kind, library_id: libraryId, item_id: itemId, actor_id: actorId } = told;
  const about = {
    kind,
    ...{ libraryId: libraryId ?? undefined, itemId: itemId ?? undefined, actorId: actorId ?? undefined },
  };
  const muted = !kindOf(kind).fixed && isMuted(wishes, about);
  return !muted && way(channelsOf(wishes, kind));
}
