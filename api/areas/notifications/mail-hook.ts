import type { Db } from '#platform/db.ts';
import type { Level, NotificationKind } from './kinds.ts';
import type { ProfilePreferences } from './preferences.ts';

/** A notification that its profile prefers by mail at once. */
export interface MailedNotice {
  notificationId: string;
  kind: NotificationKind;
  level: Level;
  accountId: string;
  profileId: string;
  zone: string;
  preferences: ProfilePreferences;
}

type Mailer = (db: Db, notice: MailedNotice) => Promise<void>;
let mailer: Mailer | undefined;

/** Sets the function that mails notifications in their transaction; called once by each process that creates some. */
export function mailNotices(next: Mailer): void {
  mailer = next;
}

export async function mailNotice(db: Db, notice: MailedNotice): Promise<void> {
  await mailer?.(db, notice);
}
