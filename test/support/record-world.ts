// The household whose records the rows name: callers and targets, created again for each request.
import { randomBytes } from 'node:crypto';
import { notify } from '#areas/notifications/public.ts';
import { permissions } from '#identity/permissions.ts';
import { newId } from '#platform/ids.ts';
import { enqueue } from '#platform/queue.ts';
import type { Api, OperationId, TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';

const ADMIN_SCOPES = permissions.filter((scope) => !/:(own|upload)$/.test(scope));

/** All callers. `late` are sessions that confirmed nothing in the last ten minutes. */
export const callers = [
  'owner',
  'late owner',
  'admin',
  'late admin',
  'another admin',
  'member',
  'late member',
  'profile of the member',
  'another member',
  'parent',
  'editor',
  'child',
  'guest',
  "the admin's key",
  "the member's key",
  'operator',
] as const;
export type Caller = (typeof callers)[number];

/** The parts of a request. */
export interface RequestInput {
  params?: Record<string, string>;
  query?: Record<string, string | number | boolean>;
  body?: unknown;
  headers?: Record<string, string>;
}

export class World {
  readonly api: Api;
  readonly people: Record<Caller, Person>;
  /** Visible to every caller. */
  readonly films: GivenLibrary;
  readonly film: string;

  private constructor(api: Api, { people, films, film }: Pick<World, 'people' | 'films' | 'film'>) {
    this.api = api;
    this.people = people;
    this.films = films;
    this.film = film;
  }

  static async make(api: Api): Promise<World> {
    const { given } = api;
    const late = { confirmed_until: null };
    const [owner, admin, member] = [await given.owner(), await given.admin(), await given.member()];
    const granted = (permission: string) => ({ own_permissions: JSON.stringify({ [permission]: true }) });
    const people: Record<Caller, Person> = {
      owner,
      'late owner': await given.again(owner, late),
      admin,
      'late admin': await given.again(admin, late),
      'another admin': await given.admin(),
      member,
      'late member': await given.again(member, late),
      'profile of the member': await given.again(member, { profile_id: await insertProfile(api, member.accountId) }),
      'another member': await given.member(),
      parent: await given.person('member', granted('user:manage')),
      editor: await given.person('member', granted('item:edit')),
      child: await given.child(),
      guest: await given.guest(),
      "the admin's key": await given.key(admin, ADMIN_SCOPES),
      "the member's key": await given.key(member, ['library:view']),
      operator: { ...owner, headers: { authorization: `Bearer ${api.operatorKey}` } },
    };
    await api.deps.db('server_state').update({ setup_completed_at: new Date() });
    const films = await givenLibrary(api.deps.db, 'movies');
    const film = await givenItem(api.deps.db, films, { top: true, title: 'Film' });
    await givenFile(api.deps.db, films, film, {
      streams: [{ codec: 'mpeg2video', probe: { width: 720, height: 576 } }],
    });
    return new World(api, { people, films, film });
  }

  request(caller: Caller, operation: OperationId, input: RequestInput): ReturnType<TestClient[OperationId]> {
    return this.api.as(this.people[caller])[operation](input);
  }

  /** A session of the account elsewhere, as it is right now in its profile. */
  readonly session = async (of: Caller): Promise<string> => (await this.api.given.again(this.people[of])).sessionId;

  readonly profile = (of: Caller): Promise<string> => insertProfile(this.api, this.people[of].accountId);

  readonly key = async (of: Caller): Promise<string> =>
    (await this.api.given.key(this.people[of], ['library:view'], { expires_at: new Date(Date.now() + 86_400_000) }))
      .keyId;

  readonly operatorKeyId = async (): Promise<string> => {
    const row = await this.api.deps
      .db('api_keys as k')
      .join('accounts as a', 'a.id', 'k.account_id')
      .where('a.is_system', true)
      .first<{ id: string }>('k.id');
    return row.id;
  };

  readonly systemAccount = async (): Promise<string> =>
    (await this.api.deps.db('accounts').where({ is_system: true }).first<{ id: string }>('id')).id;

  /** A new person of the role, whom no other row names. */
  readonly somebody = async (role: 'admin' | 'member' | 'child' | 'guest'): Promise<string> =>
    (await this.api.given.person(role)).accountId;

  /** An admin whose name a resource declares. */
  readonly declaredAdmin = async (): Promise<string> => {
    const managedBy = { kind: 'MediaServer', namespace: 'media', name: 'home', uid: newId() };
    return (await this.api.given.person('admin', { managed_by: JSON.stringify(managedBy) })).accountId;
  };

  readonly username = async (accountId: string): Promise<string> =>
    (await this.api.deps.db('accounts').where({ id: accountId }).first<{ username: string }>('username')).username;

  /** A device of the account without a present session. */
  readonly device = async (accountId: string): Promise<Record<'id' | 'deviceId', string>> => {
    const deviceId = newId();
    const clientId = `device-${randomBytes(8).toString('hex')}`;
    await this.api.deps.db('devices').insert({ id: deviceId, account_id: accountId, client_id: clientId, name: 'TV' });
    return { id: accountId, deviceId };
  };

  readonly notification = async (of: Caller): Promise<string> => {
    const { db } = this.api.deps;
    const { profileId } = this.people[of];
    const target = { kind: 'user', id: newId() };
    await notify(db, { kind: 'api-key-changed', to: { profileIds: [profileId] }, target, data: { name: 'script' } });
    const row = await db('notifications')
      .where({ profile_id: profileId })
      .orderBy('id', 'desc')
      .first<{ id: string }>('id');
    return row.id;
  };

  readonly pushSubscription = async (of: Caller): Promise<string> => {
    const { accountId, profileId, sessionId } = this.people[of];
    const id = newId();
    await this.api.deps.db('push_subscriptions').insert({
      ...{ id, account_id: accountId, profile_id: profileId, session_id: sessionId, client_id: id, key_id: 'k' },
      ...{ device_name: 'TV', endpoint: 'sealed', endpoint_sha256: id, keys: 'sealed', service: 'push.example' },
    });
    return id;
  };

  /** A person watches the film on another device, converted; both sessions. */
  readonly watching = async (of: Caller): Promise<{ playback: string; stream: string }> => {
    for (const table of ['playback_sessions', 'transcode_sessions']) await this.api.deps.db(table).delete(); // slots are few
    const viewer = this.api.as(await this.api.given.again(this.people[of]));
    const client = { builtIn: 'chromium' };
    const { body } = await viewer.startPlayback({ params: { id: this.film }, body: { client } });
    return { playback: body.session.id, stream: /[0-9a-f-]{36}/.exec(body.session.url)?.[0] ?? body.session.url };
  };

  /** The account is denied it; the member keeps the permissions of members. */
  readonly restrict = async (of: Caller, name: string): Promise<void> => {
    if (of === 'member') return;
    const restrictions = JSON.stringify({ [name]: 'deny' });
    await this.api.deps.db('accounts').where({ id: this.people[of].accountId }).update({ restrictions });
  };

  /** A mail to the account, as the log has it. */
  readonly mail = async (to: Caller): Promise<string> => {
    const id = newId();
    await this.api.deps.db('email_messages').insert({
      ...{
        id,
        kind: 'password-reset',
        account_id: this.people[to].accountId,
        address: 'a@example.org',
        language: 'en',
      },
      ...{
        subject: 'Of theirs',
        state: 'sent',
        message_id: id,
        address_sha256: id,
        direct: true,
        asked: false,
        has_link: false,
      },
    });
    return id;
  };

  /** A device requests to be signed in. */
  readonly quickConnect = async (): Promise<string> => {
    await this.api.deps.db('quick_connects').delete();
    await this.api.deps.redis.flushdb(); // only so many may wait, and be requested in a minute
    const started = await this.api.anyone.startQuickConnect({
      headers: { 'x-client-id': `device-${randomBytes(8).toString('hex')}`, 'x-client-name': 'TV' },
    });
    return started.body.quickConnect.code;
  };

  /** A label of the owner's; a restricting one names the parent. */
  readonly label = async (access?: 'restricts'): Promise<string> => {
    const owner = this.api.as(this.people.owner);
    const { id } = (await owner.createLabel({ body: { name: `label ${newId()}` } })).body;
    const deny = [{ userId: this.people.child.accountId }];
    if (access) await owner.setLabelAccess({ params: { id }, body: { restricted: false, deny } });
    return id;
  };

  /** A library that a resource owns: its name is declared, its settings are free. */
  readonly managedLibrary = async (): Promise<string> => {
    const managedBy = { kind: 'Library', namespace: 'media', name: newId(), uid: newId() };
    const body = { name: newId(), type: 'movies', managedBy, managedFields: ['name'] };
    return (await this.api.as(this.people.operator).createLibrary({ body })).body.id;
  };

  readonly library = async (): Promise<string> => (await givenLibrary(this.api.deps.db, 'movies')).id;

  /** A scan of a library that only managers of libraries see. */
  readonly hiddenScan = async (): Promise<string> => {
    const { db } = this.api.deps;
    const library = await givenLibrary(db, 'movies', { everyone: false });
    const id = newId();
    await db('scans').insert({ id, library_id: library.id, mode: 'quick', trigger: 'person', state: 'completed' });
    return id;
  };

  /** A library that only those see who manage libraries. */
  readonly closedLibrary = async (): Promise<string> =>
    (await givenLibrary(this.api.deps.db, 'movies', { everyone: false })).id;

  /** The film's file. */
  readonly file = async (): Promise<Record<'id' | 'fileId', string>> => {
    const row = await this.api.deps.db('media_files').where({ item_id: this.film }).first<{ id: string }>('id');
    return { id: this.film, fileId: row.id };
  };

  readonly withoutOffer = async (): Promise<void> => {
    await this.api.deps.db('ownership_offers').delete();
  };

  /** The owner offers the server; no other offer is open. */
  readonly offerTo = async (to: Caller): Promise<string> => {
    await this.withoutOffer();
    const body = { userId: this.people[to].accountId };
    return (await this.api.as(this.people.owner).offerServerClaim({ body })).body.offer?.id ?? '';
  };

  /** A job that this person requested. */
  readonly job = (by: Caller): Promise<string> =>
    enqueue(this.api.deps.db, 'user.purge', {
      payload: { accountId: newId() },
      options: { cause: 'person', byAccountId: this.people[by].accountId },
    });
}

async function insertProfile({ deps }: Api, accountId: string): Promise<string> {
  const id = newId();
  await deps.db('profiles').insert({ id, account_id: accountId, name: id });
  return id;
}
