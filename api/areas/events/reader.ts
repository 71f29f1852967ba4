import { createHash } from 'node:crypto';
import { permissions } from '#identity/permissions.ts';
import { may, type Principal, type Sight } from '#identity/principal.ts';
import { onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';

/** Readers with the same rights: an event is judged and serialised once for all of them. */
export interface VisibilityClass {
  key: string;
  libraries: ReadonlySet<string>;
  /** Of one of them: age and labels are the same for all. */
  sees: Pick<Sight, 'ageLimit' | 'hideUnrated' | 'labels'>;
  may: Principal['permissions'];
  roomChat: boolean;
}

/** What is kept of who asked: thousands of streams are open, and most of a principal is about one request. */
export type Subject = Pick<
  Principal,
  'accountId' | 'profileId' | 'mainProfile' | 'sessionId' | 'keyId' | 'deviceId' | 'permissions'
>;

/** Who reads: a class, and what only one person gets. */
export interface Reader {
  who: Subject;
  class: VisibilityClass;
  /** Of the account's other profiles: what they do is nobody else's business. */
  privateProfiles: readonly string[];
}

/** A reader with all that its account may see and do. */
export interface WholeReader extends Reader {
  who: Principal;
}

export async function readerFor(db: Db, who: Principal): Promise<WholeReader> {
  const [libraries, privateProfiles] = await Promise.all([
    db('libraries').modify(onlyVisibleLibraries, who).orderBy('id').pluck('id') as Promise<string[]>,
    db('profiles').where({ account_id: who.accountId, private: true }).pluck('id') as Promise<string[]>,
  ]);
  const own = privateProfiles.length > 0 ? privateProfiles : NONE;
  return { who, class: classOf(who, libraries), privateProfiles: own };
}

const NONE: readonly string[] = [];

function classOf(who: Principal, libraries: readonly string[]): VisibilityClass {
  const { ageLimit, hideUnrated, labels } = who.sees;
  const roomChat = who.restrictions.roomChat !== 'deny';
  const held = permissions.filter((permission) => may(who, permission));
  const rights = JSON.stringify([libraries, ageLimit, hideUnrated, labels, held, roomChat]);
  const key = createHash('sha256').update(rights).digest('base64url');
  return { key, libraries: new Set(libraries), sees: who.sees, may: who.permissions, roomChat };
}

/** As a stream keeps it; `permissions` are those of its class, which all its readers share. */
export function kept({ who, class: to, privateProfiles }: Reader): Reader {
  const { accountId, profileId, mainProfile, sessionId, keyId, deviceId } = who;
  const subject: Subject = {
    ...{ accountId, profileId, mainProfile, permissions: to.may },
    ...(sessionId !== undefined && { sessionId }),
    ...(keyId !== undefined && { keyId }),
    ...(deviceId !== undefined && { deviceId }),
  };
  return { who: subject, class: to, privateProfiles };
}
