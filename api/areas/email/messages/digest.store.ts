import {
  channelsOf,
  kindNames,
  languageFor,
  type NotificationRow,
  noPreferences,
  type ProfilePreferences,
  preferencesOf,
  seers,
  textOf,
} from '#areas/notifications/public.ts';
import type { Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { containerTypes } from '#platform/item-types.ts';
import { pluralText } from '#platform/languages.ts';
import type { Settings } from '#platform/settings.ts';
import type { Content } from '../content/render.ts';
import { mailLanguage } from '../content/texts.ts';
import { insertMail } from './write.ts';

const MOST_TITLES = 40;
const MOST_KEPT = 50;
const MOST_NEW = 2000;
const GO_ON = 5;
const DAY_MS = 86_400_000;

interface Titled {
  id: string;
  title: string;
}

export interface DigestQuery {
  profileId: string;
  language: string;
  since: Date;
}

/** Digest of a profile by its present visibility; undefined when there is nothing new. */
export async function digestOf(db: Db, query: DigestQuery): Promise<Content['sections'] | undefined> {
  const { profileId, since } = query;
  const language = mailLanguage(query.language);
  return db.transaction(async (transaction) => {
    await transaction.raw(`set local statement_timeout = '5s'`);
    const [seer] = await seers(transaction, [profileId], { kind: 'new-episode' });
    if (!seer) return undefined;
    const preferences = (await preferencesOf(transaction, [profileId])).get(profileId) ?? noPreferences;
    const named = (titles: readonly string[]): string[] => {
      if (preferences.hideTitles)
        return titles.length > 0 ? [pluralText(language.tag, language.digest.titles, titles.length)] : [];
      const shown = titles.slice(0, MOST_TITLES);
      const more = titles.length - shown.length;
      return more > 0 ? [...shown, pluralText(language.tag, language.digest.more, more)] : shown;
    };
    const added = named(await addedTitles(transaction, seer.who, since));
    const kept = await keptTexts(transaction, { ...query, preferences });
    if (added.length + kept.length === 0) return undefined;
    const goOn = named(await goOnTitles(transaction, seer.who));
    const { digest } = language;
    return [
      { heading: digest.added, items: added },
      { heading: digest.goOn, items: goOn },
      { heading: digest.kept, items: kept },
    ].filter(({ items }) => items.length > 0);
  });
}

/** Titles, newest first; episodes are merged into their season, tracks into their album. */
async function addedTitles(db: Db, who: Principal, since: Date): Promise<string[]> {
  const rows: Titled[] = await db('items')
    .leftJoin('items as parent', 'parent.id', 'items.parent_id')
    .leftJoin('items as above', 'above.id', 'items.grandparent_id')
    .where('items.added_at', '>', since)
    .whereNull('items.extra_of')
    .whereNotIn('items.type', containerTypes)
    .modify(onlyVisibleItems, who)
    .orderBy('items.added_at', 'desc')
    .limit(MOST_NEW)
    .select(
      db.raw('coalesce(parent.id, items.id) as id'),
      db.raw(`concat_ws(' – ', above.title, coalesce(parent.title, items.title)) as title`),
    );
  return [...new Map(rows.map(({ id, title }) => [id, title])).values()];
}

async function goOnTitles(db: Db, who: Principal): Promise<string[]> {
  const rows: { title: string }[] = await db('items')
    .join('item_states as s', 's.item_id', 'items.id')
    .leftJoin('items as above', 'above.id', 'items.grandparent_id')
    .where({ 's.profile_id': who.profileId, 's.watched': false })
    .where('s.position_ms', '>', 0)
    .whereNotNull('s.last_played_at')
    .modify(onlyVisibleItems, who)
    .orderBy('s.last_played_at', 'desc')
    .limit(GO_ON)
    .select(db.raw(`concat_ws(' – ', above.title, items.title) as title`));
  return rows.map(({ title }) => title);
}

/** Notifications since then that the profile gets by digest and whose target is still visible. */
async function keptTexts(
  db: Db,
  { profileId, since, language, preferences }: DigestQuery & { preferences: ProfilePreferences },
): Promise<string[]> {
  const kinds = kindNames.filter((kind) => channelsOf(preferences, kind).email === 'digest');
  const rows = await db('notifications')
    .where({ profile_id: profileId })
    .whereIn('kind', kinds)
    .where('created_at', '>', since)
    .orderBy('created_at', 'desc')
    .limit(MOST_KEPT);
  const texts: string[] = [];
  for (const row of rows)
    if (await isVisibleTo(db, row)) texts.push(textOf(row, languageFor(language), preferences.hideTitles).body);
  return texts;
}

/** Whether the target of the notification is still visible to the profile. */
export async function isVisibleTo(
  db: Db,
  { kind, profile_id: id, item_id: item, library_id: library }: NotificationRow,
) {
  const seen = await seers(db, [id], { kind, itemId: item ?? undefined, libraryId: library ?? undefined });
  return seen.length > 0;
}

/** Start of the period of the latest digest, or of the next one with `next`; at most a week ago. */
export async function sinceOf(db: Db, accountId: string, { now, next }: { now: Date; next: boolean }): Promise<Date> {
  const last = await db('email_digests').where({ account_id: accountId }).first('at', 'since');
  const since = next ? last?.at : last?.since;
  return new Date(Math.max(since?.getTime() ?? 0, now.getTime() - 7 * DAY_MS));
}

interface Due {
  id: string;
  email: string;
  profile_id: string;
  language: string | null;
  last: Date | null;
}

const BATCH = 200;
const WISHED = `exists (select 1 from notification_preferences w, jsonb_each(w.document -> 'kinds') k
  where w.profile_id = p.id and k.value ->> 'email' = 'digest')`;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** Writes the digests of up to 200 accounts whose local digest hour it is, and returns their number. */
export async function writeDigests(db: Db, settings: Settings, now: Date): Promise<number> {
  const zone = settings.get('server.timeZone');
  return db.transaction(async (transaction) => {
    const { rows } = await transaction.raw<{ rows: Due[] }>(
      `select a.id, a.email, p.id as profile_id, coalesce(p.language, a.language) as language, d.at as last
       from accounts a join profiles p on p.account_id = a.id and p.main
       left join email_digests d on d.account_id = a.id
       where a.email_verified and a.email is not null and not a.disabled and a.deleted_at is null and not a.is_system
         and coalesce(d.at < ?::timestamptz - interval '6 days', true) and ${WISHED}
         and extract(isodow from ?::timestamptz at time zone coalesce(p.time_zone, a.time_zone, ?)) = ?
         and extract(hour from ?::timestamptz at time zone coalesce(p.time_zone, a.time_zone, ?)) = ?
       order by a.id limit ${BATCH} for update of a skip locked`,
      [
        now,
        now,
        zone,
        DAYS.indexOf(settings.get('email.digest.day')) + 1,
        now,
        zone,
        settings.get('email.digest.hour'),
      ],
    );
    for (const row of rows) await writeDigest(transaction, settings, { row, now });
    return rows.length;
  });
}

async function writeDigest(db: Db, settings: Settings, { row, now }: { row: Due; now: Date }): Promise<void> {
  const language = mailLanguage(row.language ?? settings.get('server.language'));
  await insertMail(db, settings, {
    ...{ id: newId(), kind: 'digest', to: row.email, accountId: row.id, profileId: row.profile_id },
    language: language.tag,
    subject: language.digest.subject.replace('{server}', () => settings.get('server.name')),
    ...{ direct: false, requested: true, hasLink: true },
    expiresAt: new Date(now.getTime() + DAY_MS),
  });
  const since = row.last ?? new Date(now.getTime() - 7 * DAY_MS);
  await db('email_digests').insert({ account_id: row.id, at: now, since }).onConflict('account_id').merge();
}
