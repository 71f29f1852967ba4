import { createHash } from 'node:crypto';
import { permissions } from '#identity/permissions.ts';
import { may, type Principal, type Sight } from '#identity/principal.ts';
import { onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';

/** Readers with the same rights, for whom an event is filtered and serialized once. */
export interface VisibilityClass {
  key: string;
  libraries: ReadonlySet<string>;
  /** Age limit and labels, which are the same for all readers of the class. */
  sees: Pick<Sight, 'ageLimit' | 'hideUnrated' | 'labels'>;
  may: Principal['permissions'];
  roomChat: boolean;
}

/** The part of a principal that a stream keeps; the rest is about one request. */
export type Subject = Pick<
  Principal,
  'accountId' | 'profileId' | 'mainProfile' | 'sessionId' | 'keyId' | 'deviceId' | 'permissions'
>;

/** A reader: its class, and the fields for events about this person. */
export interface Reader {
  who: Subject;
  class: VisibilityClass;
  /** Other profiles of the account that are private, whose events this reader does not get. */
  privateProfiles: readonly string[];
}

/** A reader with its whole principal. */
export interface WholeReader extends Reader {
  who: Principal;
}

export async function readerFor(db: Db, who: Principal): Promise<WholeReader> {
  const [libraries, privateProfiles] = await Promise.all([
    db('libraries').modify(onlyVisibleLibraries, who).orderBy('id').pluck('id'),
    db('profiles').where({ account_id: who.accountId, private: true }).pluck('id'),
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

/** The reader as a stream keeps it; `permissions` are shared by all readers of the class. */
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
