import { createHash, randomBytes } from 'node:crypto';
import { insertAccount } from '#areas/accounts/public.ts';
import { signAccessToken } from '#identity/credentials.ts';
import type { Permission, Role } from '#identity/permissions.ts';
import type { Deps } from '#kernel/endpoint.ts';
import { newId, newSecret } from '#platform/ids.ts';

/** A signed-in person, and the headers of the session. */
export interface Person {
  accountId: string;
  profileId: string;
  sessionId: string;
  headers: Record<string, string>;
}

export interface Given {
  person(role: Role, more?: Record<string, unknown>): Promise<Person>;
  owner(): Promise<Person>;
  admin(): Promise<Person>;
  member(): Promise<Person>;
  child(ageLimit?: number): Promise<Person>;
  guest(): Promise<Person>;
  /** The same person signed in again; columns of the session may be given. */
  again(person: Pick<Person, 'accountId' | 'profileId'>, session?: Record<string, unknown>): Promise<Person>;
  /** An API key of the account with these scopes. */
  key(person: Person, scopes: Permission[], more?: Record<string, unknown>): Promise<Person & { keyId: string }>;
  /** The storage of the media root that every test API has. */
  storageId: string;
}

export function given({ db, keys }: Deps): Given {
  const again: Given['again'] = async ({ accountId, profileId: last }, more = {}) => {
    const sessionId = newId();
    const clientId = `test-${randomBytes(8).toString('hex')}`;
    const row = {
      id: sessionId,
      account_id: accountId,
      profile_id: last,
      client_id: clientId,
      method: 'password' as const,
      confirmed_until: new Date(Date.now() + 600_000),
      expires_at: new Date(Date.now() + 86_400_000),
      ...more,
    };
    await db('sessions').insert(row);
    const claims = { accountId, profileId: row.profile_id, sessionId };
    const token = await signAccessToken(keys, claims, new Date());
    const headers = { authorization: `Bearer ${token}`, 'x-client-id': clientId, 'x-client-name': 'test' };
    return { ...claims, headers };
  };
  const person = async (role: Role, more: Record<string, unknown> = {}): Promise<Person> => {
    const account = await insertAccount(db, {
      username: `${role}-${randomBytes(4).toString('hex')}`,
      role,
      passwordHash: null,
    });
    if (Object.keys(more).length > 0) await db('accounts').where({ id: account.id }).update(more);
    const profile = await db('profiles').where({ account_id: account.id }).first<{ id: string }>('id');
    return again({ accountId: account.id, profileId: profile.id });
  };
  return {
    person,
    again,
    owner: () => person('owner'),
    admin: () => person('admin'),
    member: () => person('member'),
    child: (ageLimit = 12) => person('child', { age_limit: ageLimit }),
    guest: () => person('guest'),
    async key(of, scopes, more = {}) {
      const secret = newSecret('foyer_');
      const hash = createHash('sha256').update(secret).digest();
      const keyId = newId();
      await db('api_keys').insert({
        id: keyId,
        account_id: of.accountId,
        name: 'test',
        hash,
        hint: 'foyer_',
        scopes,
        ...more,
      });
      return { ...of, keyId, headers: { authorization: `Bearer ${secret}` } };
    },
    storageId: '01900000-0000-7000-8000-000000000001',
  };
}
