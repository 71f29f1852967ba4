import { expect } from 'chai';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';

const error = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> & { issues?: { code: string }[] } } })
    .error;

describe('Users', () => {
  let api: Api;
  let owner: Person;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
  });

  let made = 0;
  const draft = (more: object = {}) => {
    made += 1;
    return { username: `person ${made}`, password: 'long enough 9', ...more };
  };
  const create = async (by: Person, more: object = {}) => {
    const answer = await api.as(by).createUser({ body: draft(more) });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  };
  const stale = (person: Person) =>
    api.deps
      .db('sessions')
      .where({ id: person.sessionId })
      .update({ confirmed_until: new Date(0) });
  const events = async (event: string, about: string) =>
    ((await api.deps.db('outbox').where({ event }).select('payload')) as { payload: Record<string, string> }[])
      .map(({ payload }) => payload)
      .filter((payload) => Object.values(payload).includes(about));
  const audits = async (action: string, userId: string) =>
    ((await api.deps.db('audit_log').where({ action }).select('details')) as { details: Record<string, unknown> }[])
      .map(({ details }) => details)
      .filter((details) => details.userId === userId);
  const managing = () => api.given.person('member', { own_permissions: '{"user:manage":true}' });

  describe('listUsers', () => {
    it('finds by name and address, filters, sorts, and knows neither the system account nor deleted ones', async () => {
      const one = await create(owner, { username: 'Zoë.finder', email: 'zf@example.org', role: 'guest' });
      const find = async (query: object) =>
        (await api.as(owner).listUsers({ query: { limit: 200, ...query } })).body.items.map(({ id }) => id);
      expect(await find({ q: 'zoe.FIND' })).to.deep.equal([one.id]);
      expect(await find({ q: 'zf@' })).to.deep.equal([one.id]);
      expect(await find({ q: '%' })).to.deep.equal([]);
      expect(await find({ filter: 'role:eq:guest;state:eq:password-due' })).to.include(one.id);
      expect(await find({ filter: 'state:eq:active' })).to.not.include(one.id);
      expect(await find({ filter: 'two_factor:eq:true' })).to.deep.equal([]);
      const system = await api.deps.db('accounts').where({ is_system: true }).first<{ id: string }>('id');
      expect(await find({})).to.not.include(system.id);
      expect((await api.as(owner).getUser({ params: { id: system.id } })).status).to.equal(404);
      expect(error(await api.as(owner).listUsers({ query: { filter: 'password:eq:x' } })).code).to.equal(
        'VALIDATION_FAILED',
      );
    });

    it('pages in the requested order, without a gap', async () => {
      for (let i = 0; i < 3; i += 1) await create(owner);
      const seen: string[] = [];
      let cursor: string | null | undefined;
      do {
        const query = { limit: 2, sort: '-createdAt', ...(cursor && { cursor }) };
        const { body } = await api.as(owner).listUsers({ query });
        seen.push(...body.items.map(({ id }) => id));
        cursor = body.page.cursor;
      } while (cursor);
      const all = (await api.as(owner).listUsers({ query: { limit: 200, sort: '-createdAt' } })).body.items;
      expect(seen).to.deep.equal(all.map(({ id }) => id));
    });

    it('filters by library reached, and includes access and permissions on request', async () => {
      const library = await givenLibrary(api.deps.db, 'movies', { everyone: false });
      const one = await create(owner, { access: { libraries: { mode: 'only', ids: [library.id] } } });
      const filter = `library:eq:${library.id};role:eq:member`;
      const { items } = (await api.as(owner).listUsers({ query: { filter, include: 'access,permissions' } })).body;
      expect(items.map(({ id }) => id)).to.deep.equal([one.id]);
      expect(items[0]?.access?.libraries).to.deep.equal({ mode: 'only', ids: [library.id] });
      expect(items[0]?.permissions?.permissions['download:own'].source).to.equal('role');
    });
  });

  describe('createUser', () => {
    it('creates an account that can sign in, announces it, and writes it to the audit log', async () => {
      const library = await givenLibrary(api.deps.db, 'movies');
      const one = await create(owner, { mustChangePassword: false, note: 'aunt', language: 'de' });
      expect(one).to.include({ role: 'member', state: 'active', hasPassword: true, note: 'aunt', language: 'de' });
      expect(one.invitedBy?.userId).to.equal(owner.accountId);
      expect(one).to.not.have.property('resetUrl');
      const body = { username: one.username.toUpperCase(), password: 'long enough 9' };
      expect((await api.anyone.login({ body })).status).to.equal(200);
      expect(await events('user.created', one.id)).to.deep.equal([{ userId: one.id, role: 'member' }]);
      const granted = await events('library.access.granted', one.id);
      expect(granted.filter(({ libraryId }) => libraryId === library.id)).to.have.length(1);
      expect(await audits('user.created', one.id)).to.have.length(1);
      const signedIn = (await api.as(owner).getUser({ params: { id: one.id } })).body.lastSignIn;
      expect(signedIn?.method).to.equal('password');
    });

    it('gives a link, once, to a person without a password; with it the person sets one', async () => {
      const body = draft({ password: undefined });
      const headers = { 'idempotency-key': 'a-person' };
      const first = await api.as(owner).createUser({ body, headers });
      const [, token = ''] = first.body.resetUrl?.split('/reset#token=') ?? [];
      expect(token).to.match(/^foypr_/);
      const again = await api.as(owner).createUser({ body, headers });
      expect([again.status, again.body.id]).to.deep.equal([200, first.body.id]);
      expect(again.body).to.not.have.property('resetUrl');
      const set = await api.anyone.completePasswordReset({ body: { token, newPassword: 'quite another 7' } });
      expect(set.body.changed).to.equal(true);
      const login = { username: first.body.username, password: 'quite another 7' };
      expect((await api.anyone.login({ body: login })).status).to.equal(200);
    });

    it('takes no name twice, in any letter case or look, and no address', async () => {
      const one = await create(owner, { username: 'Paco', email: 'Paco@example.org' });
      for (const username of ['paco', 'ＰＡＣＯ', 'расо']) {
        const answer = await api.as(owner).createUser({ body: draft({ username }) });
        expect(error(answer).details.reason, username).to.equal('username-taken');
      }
      expect(error(await api.as(owner).createUser({ body: draft({ username: 'system' }) })).details.reason).to.equal(
        'username-taken',
      );
      const answer = await api.as(owner).createUser({ body: draft({ email: 'pacO@example.org' }) });
      expect(error(answer).details.reason).to.equal('email-taken');
      expect(one.email).to.deep.equal({ address: 'Paco@example.org', verified: false });
    });

    it('refuses names of other characters and weak passwords', async () => {
      for (const username of ['', ' ', 'a\u0000b', 'a/b', 'a<b', 'a\u202eb', 'x'.repeat(65), 'a  b']) {
        expect((await api.as(owner).createUser({ body: draft({ username }) })).status, username).to.equal(400);
      }
      for (const password of ['short', 'password', 'person weak']) {
        const answer = await api.as(owner).createUser({ body: { username: 'person weak', password } });
        expect(answer.status, password).to.equal(400);
      }
    });

    it('takes no member that is not offered, such as an id, a state or the role owner', async () => {
      for (const more of [{ id: owner.accountId }, { disabled: true }, { managedBy: {} }, { role: 'owner' }]) {
        expect((await api.as(owner).createUser({ body: draft(more) })).status, JSON.stringify(more)).to.equal(400);
      }
    });

    it('needs the owner for an admin, and rank for all', async () => {
      const admin = await api.given.admin();
      expect(error(await api.as(admin).createUser({ body: draft({ role: 'admin' }) })).details.by).to.equal('rank');
      expect((await create(owner, { role: 'admin' })).role).to.equal('admin');
      const parent = await managing();
      expect((await create(parent, { role: 'child' })).access.ageLimit).to.equal(12);
      expect(error(await api.as(parent).createUser({ body: draft() })).details.by).to.equal('rank');
    });

    it('gives nothing that the caller does not have', async () => {
      const hidden = await givenLibrary(api.deps.db, 'movies', { everyone: false });
      const parent = await managing();
      const drafts: [object, object][] = [
        [{ permissions: { 'photo:upload': true, 'download:own': true } }, {}],
        [{ access: { libraries: { mode: 'only', ids: [hidden.id] } } }, { libraryIds: [hidden.id] }],
      ];
      await api.deps
        .db('accounts')
        .where({ id: parent.accountId })
        .update({ own_permissions: '{"user:manage":true,"photo:upload":false}' });
      const refused = await api.as(parent).createUser({ body: draft({ role: 'child', ...drafts[0]?.[0] }) });
      expect(error(refused).details).to.deep.equal({ permission: 'photo:upload' });
      const strange = await api.as(parent).createUser({ body: draft({ role: 'child', ...drafts[1]?.[0] }) });
      expect(error(strange).details).to.deep.equal(drafts[1]?.[1]);
      await api.deps.db('accounts').where({ id: parent.accountId }).update({ age_limit: 10 });
      expect(error(await api.as(parent).createUser({ body: draft({ role: 'child' }) })).details.by).to.equal(
        'age-limit',
      );
    });

    it('leaves nothing behind when it refuses', async () => {
      const before = await api.deps.db('accounts').count('* as n');
      const access = { libraries: { mode: 'only', ids: [ABSENT] } };
      const answer = await api.as(owner).createUser({ body: draft({ access }) });
      expect(error(answer).details.issues?.[0]?.code).to.equal('unknown_library');
      expect(await api.deps.db('accounts').count('* as n')).to.deep.equal(before);
    });
  });

  describe('updateUser', () => {
    it('counts from the next request: disabled ends sign-ins and refuses keys', async () => {
      const member = await api.given.member();
      const key = await api.given.key(member, ['library:view']);
      const params = { id: member.accountId };
      const answer = await api.as(owner).updateUser({ params, body: { disabled: true } });
      expect(answer.body.state).to.equal('disabled');
      for (const person of [member, key]) expect((await api.as(person).listLibraries()).status).to.equal(401);
      await api.as(owner).updateUser({ params, body: { disabled: false } });
      expect((await api.as(key).listLibraries()).status).to.equal(200);
      expect((await api.as(member).listLibraries()).status).to.equal(401);
    });

    it('lets a new role reset single permissions and narrow or revoke keys', async () => {
      const admin = await api.given.admin();
      const wide = await api.given.key(admin, ['library:view', 'user:manage']);
      const useless = await api.given.key(admin, ['job:manage']);
      await api.deps.db('accounts').where({ id: admin.accountId }).update({ own_permissions: '{"job:manage":false}' });
      const params = { id: admin.accountId };
      const to = async (role: string) => api.as(owner).updateUser({ params, body: { role } });
      expect((await to('member')).body.permissions.permissions['job:manage'].source).to.equal('role');
      expect((await api.as(wide).listLibraries()).status).to.equal(200);
      expect(error(await api.as(wide).listUsers()).details.permission).to.equal('user:manage');
      expect((await api.as(useless).listJobs()).status).to.equal(401);
      expect((await to('child')).body.access.ageLimit).to.equal(12);
      expect((await api.as(wide).listLibraries()).status).to.equal(401);
    });

    it('needs the owner, confirmed, to make or unmake an admin', async () => {
      const params = { id: (await api.given.member()).accountId };
      const admin = await api.given.admin();
      expect(error(await api.as(admin).updateUser({ params, body: { role: 'admin' } })).details.by).to.equal('rank');
      const unsure = await startedOwner();
      await stale(unsure);
      expect(error(await api.as(unsure).updateUser({ params, body: { role: 'admin' } })).details.by).to.equal(
        'confirm',
      );
      expect(error(await api.as(owner).updateUser({ params, body: { role: 'owner' } })).code).to.equal(
        'VALIDATION_FAILED',
      );
    });

    const startedOwner = async (): Promise<Person> => {
      const other = await api.given.person('member');
      await api.deps
        .db('sessions')
        .where({ id: other.sessionId })
        .update({ account_id: owner.accountId, profile_id: owner.profileId });
      const { signAccessToken } = await import('#identity/credentials.ts');
      const claims = { ...owner, sessionId: other.sessionId };
      const token = await signAccessToken(api.deps.keys, claims, new Date());
      return { ...claims, headers: { ...owner.headers, authorization: `Bearer ${token}` } };
    };

    it('keeps rank: admins change neither each other nor the owner, and no one changes their own role', async () => {
      const [one, two] = [await api.given.admin(), await api.given.admin()];
      for (const id of [two.accountId, owner.accountId]) {
        const answer = await api.as(one).updateUser({ params: { id }, body: { displayName: 'x' } });
        expect(error(answer).details).to.deep.equal({ by: 'rank' });
        expect((await api.as(one).getUser({ params: { id } })).status).to.equal(200);
      }
      for (const body of [{ role: 'member' }, { disabled: true }]) {
        const answer = await api.as(one).updateUser({ params: { id: one.accountId }, body });
        expect(error(answer).details.by).to.equal('self');
      }
      const own = await api.as(one).updateUser({ params: { id: one.accountId }, body: { displayName: 'One' } });
      expect(own.body.displayName).to.equal('One');
    });

    it('lets one of two changes at once win when both saw the same revision', async () => {
      const { id, revision } = await create(owner);
      const answers = await Promise.all(
        ['a', 'b'].map((displayName) => api.as(owner).updateUser({ params: { id }, body: { displayName, revision } })),
      );
      expect(answers.map(({ status }) => status)).to.have.members([200, 409]);
      const lost = answers.find(({ status }) => status === 409);
      expect(error(lost as never).details).to.deep.equal({ reason: 'revision', revision: revision + 1 });
      const old = await api
        .as(owner)
        .updateUser({ params: { id }, body: { displayName: 'c' }, headers: { 'if-match': `"${revision}"` } });
      expect(old.status).to.equal(409);
    });

    it('frees a name that was changed, rejects one that is taken, and clears members that are null', async () => {
      const one = await create(owner, { note: 'x', email: 'one@example.org' });
      const two = await create(owner);
      const params = { id: one.id };
      const taken = await api.as(owner).updateUser({ params, body: { username: two.username } });
      expect(error(taken).details.reason).to.equal('username-taken');
      const body = { username: `${one.username} b`, note: null, email: null };
      const changed = (await api.as(owner).updateUser({ params, body })).body;
      expect(changed).to.not.have.any.keys('note', 'email');
      await create(owner, { username: one.username });
      const [log] = await audits('user.changed', one.id);
      expect(log?.before).to.include({ username: one.username, note: 'x' });
    });

    it('lets the declared owner keep the declared name', async () => {
      const managed = { kind: 'MediaServer', namespace: 'n', name: 'm', uid: 'u' };
      const row = api.deps.db('accounts').where({ id: owner.accountId });
      await row.clone().update({ managed_by: JSON.stringify(managed) });
      const answer = await api.as(owner).updateUser({ params: { id: owner.accountId }, body: { username: 'other' } });
      await row.clone().update({ managed_by: null });
      expect(error(answer).details).to.deep.equal({
        reason: 'managed-by-resource',
        fields: ['username'],
        managedBy: managed,
      });
    });
  });

  describe('setUserAccess', () => {
    const put = (id: string, more: object = {}) =>
      api.as(owner).setUserAccess({ params: { id }, body: { libraries: { mode: 'default', ids: [] }, ...more } });

    it('counts at the next request and reports how many items remain visible', async () => {
      const db = api.deps.db;
      const library = await givenLibrary(db, 'movies', { everyone: false });
      await givenItem(db, library, { age_years: 6 });
      await givenItem(db, library, { age_years: 16 });
      const member = await api.given.member();
      const only = { libraries: { mode: 'only', ids: [library.id] } };
      const answer = await put(member.accountId, { ...only, ageLimit: 12 });
      expect(answer.body).to.deep.include({ visibleItems: 1, ageLimit: 12, managed: [] });
      expect((await api.as(member).listLibraries()).body.map(({ id }) => id)).to.deep.equal([library.id]);
      expect((await put(member.accountId, only)).body).to.include({ visibleItems: 2 });
      const granted = await events('library.access.granted', member.accountId);
      expect(granted.filter(({ libraryId }) => libraryId === library.id)).to.have.length(1);
      await put(member.accountId, { libraries: { mode: 'only', ids: [] } });
      expect((await api.as(member).listLibraries()).body).to.deep.equal([]);
    });

    it('refuses unknown libraries, overlapping windows and negative limits, all at once', async () => {
      const member = await api.given.member();
      const overlapping = [
        { days: ['mon'], from: '22:00', to: '02:00' },
        { days: ['tue'], from: '01:00', to: '03:00' },
      ];
      const answer = await put(member.accountId, { viewingHours: overlapping, limits: { streams: -1 } });
      expect(error(answer).details.issues?.map(({ code }) => code)).to.have.members(['overlap', 'too_small']);
      const strange = { libraries: { mode: 'default', ids: [ABSENT] } };
      expect(error(await put(member.accountId, strange)).details.issues?.[0]?.code).to.equal('unknown_library');
      const apart = [overlapping[0], { days: ['tue'], from: '02:00', to: '03:00' }];
      expect((await put(member.accountId, { viewingHours: apart })).status).to.equal(200);
    });

    it('keeps the rows of a library that a resource declares, and reports so', async () => {
      const managedBy = { kind: 'Library', namespace: 'n', name: 'l', uid: 'l-1' };
      const managed = { managed_by: JSON.stringify(managedBy), managed_fields: ['access'], everyone: false };
      const library = await givenLibrary(api.deps.db, 'movies', managed);
      const member = await api.given.member();
      const answer = await put(member.accountId, { libraries: { mode: 'default', ids: [library.id] } });
      expect(answer.body.managed).to.deep.equal([{ libraryId: library.id, by: managedBy }]);
      expect(answer.body.libraries.ids).to.deep.equal([]);
    });

    it('closes outside the hours with the time they resume, in the account’s zone', async () => {
      const member = await api.given.member();
      const now = new Date();
      const hour = (ahead: number): string => `${String((now.getUTCHours() + ahead) % 24).padStart(2, '0')}:00`;
      const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
      const viewingHours = [{ days, from: hour(2), to: hour(3) }];
      await put(member.accountId, { viewingHours, timeZone: 'UTC' });
      const refused = error(await api.as(member).listLibraries());
      expect(refused.code).to.equal('PERMISSION_TIME_RESTRICTED');
      expect(new Date(refused.details.resumesAt as string).getUTCHours()).to.equal((now.getUTCHours() + 2) % 24);
      await put(member.accountId);
      expect((await api.as(member).listLibraries()).status).to.equal(200);
    });

    it('is for lower ranks alone and resets restrictions to the role’s where they are left out', async () => {
      const admin = await api.given.admin();
      const refused = await api
        .as(admin)
        .setUserAccess({ params: { id: admin.accountId }, body: { libraries: { mode: 'default', ids: [] } } });
      expect(error(refused).details.by).to.equal('rank');
      const child = await api.given.child();
      const set = await put(child.accountId, { restrictions: { discover: 'allow', cast: 'deny' } });
      expect(set.body.restrictions).to.include({ discover: 'allow', cast: 'deny', roomChat: 'deny', friends: 'allow' });
      expect((await put(child.accountId)).body.restrictions).to.include({ discover: 'deny', cast: 'allow' });
      const guest = await create(owner, { role: 'guest' });
      expect(guest.access.restrictions).to.include({ watchTogether: 'deny', cast: 'allow', friends: 'deny' });
    });
  });

  describe('permissions', () => {
    const set = (by: Person, id: string, ...[grant, withhold = []]: string[][]) =>
      api.as(by).setUserPermissions({ params: { id }, body: { grant, withhold } });

    it('shows roles, descriptions and the source of every cell', async () => {
      const member = await api.given.member();
      await set(owner, member.accountId, ['item:edit'], ['download:own']);
      const { body } = await api.as(owner).getPermissionMatrix({ query: { userId: member.accountId } });
      expect(body.permissions).to.have.length(11);
      expect(body.roles.child).to.deep.equal(['library:view', 'playlist:own']);
      expect(body.items).to.have.length(1);
      expect(body.items[0]?.permissions).to.deep.include({
        'item:edit': { allowed: true, source: 'granted', changeable: true },
        'download:own': { allowed: false, source: 'withheld', changeable: true },
        'library:view': { allowed: true, source: 'role', changeable: false },
      });
      const child = await api.given.child();
      const row = (await api.as(owner).getPermissionMatrix({ query: { userId: child.accountId } })).body.items[0];
      expect(row?.permissions['job:manage'].changeable).to.equal(false);
      expect(row?.permissions['download:own'].changeable).to.equal(true);
    });

    it('counts from the next request and replaces the former value', async () => {
      const member = await api.given.member();
      await set(owner, member.accountId, ['job:manage']);
      expect((await api.as(member).getMe()).body.permissions).to.include('job:manage');
      await set(owner, member.accountId, []);
      expect((await api.as(member).getMe()).body.permissions).to.not.include('job:manage');
    });

    it('rejects the same in both, permissions that the role can never have, library:view withheld and the operator’s', async () => {
      const [member, guest] = [await api.given.member(), await api.given.guest()];
      const both = await set(owner, member.accountId, ['item:edit'], ['item:edit']);
      expect(error(both).details.issues?.[0]?.code).to.equal('in_both');
      for (const name of ['user:manage', 'download:own'])
        expect(error(await set(owner, guest.accountId, [name])).details.reason).to.equal('not-for-role');
      expect(error(await set(owner, member.accountId, [], ['library:view'])).details.reason).to.equal('needed');
    });

    it('lets an admin give their own permissions, and the owner alone the managing of accounts and settings', async () => {
      const admin = await api.given.person('admin', { own_permissions: '{"job:manage":false}' });
      const { accountId } = await api.given.member();
      expect(error(await set(admin, accountId, ['job:manage'])).details.permission).to.equal('job:manage');
      expect((await set(admin, accountId, ['item:edit'])).status).to.equal(200);
      expect(error(await set(admin, accountId, ['user:manage'])).details.by).to.equal('owner');
      expect((await set(owner, accountId, ['user:manage'])).status).to.equal(200);
      expect((await set(admin, accountId, ['user:manage'], ['photo:upload'])).status).to.equal(200);
      const parent = { ...owner, ...(await managing()) };
      expect(error(await set(parent, accountId, [])).details.by).to.equal('rank');
    });
  });

  describe('resetUserSignIn', () => {
    const reset = (by: Person, id: string, body: object = {}) => api.as(by).resetUserSignIn({ params: { id }, body });

    it('ends sign-ins, creates one link that voids the one before, and revokes keys on request', async () => {
      const member = await api.given.member();
      const key = await api.given.key(member, ['library:view']);
      const first = await reset(owner, member.accountId);
      expect(first.body).to.include({ endedSessions: 1, revokedKeys: 0, mailed: false });
      expect((await api.as(member).listLibraries()).status).to.equal(401);
      expect((await api.as(key).listLibraries()).status).to.equal(200);
      const second = await reset(owner, member.accountId, { revokeKeys: true, hours: 1 });
      expect(second.body.revokedKeys).to.equal(1);
      const check = (url = '') => api.anyone.completePasswordReset({ body: { token: url.split('#token=')[1] ?? '' } });
      expect((await check(first.body.url)).status).to.equal(404);
      const hour = Date.parse(second.body.expiresAt ?? '') - Date.now();
      expect(hour).to.be.within(3_500_000, 3_600_000);
      expect((await check(second.body.url)).status).to.equal(200);
      const none = await reset(owner, member.accountId, { link: false });
      expect(none.body).to.not.have.property('url');
    });

    it('keeps rank and requires a confirmed session; reports why no mail is sent', async () => {
      const admin = await api.given.admin();
      expect(error(await reset(admin, owner.accountId)).details.by).to.equal('rank');
      const { accountId } = await api.given.member();
      expect(error(await reset(admin, accountId, { sendMail: true })).details.reason).to.equal('no-email');
      await api.deps.db('accounts').where({ id: accountId }).update({ email: 'some@example.org' });
      expect(error(await reset(admin, accountId, { sendMail: true })).details.reason).to.equal('mail-not-configured');
      await stale(admin);
      expect(error(await reset(admin, accountId)).details.by).to.equal('confirm');
    });
  });

  describe('deleteUser', () => {
    const remove = (by: Person, id: string, confirm: string) =>
      api.as(by).deleteUser({ params: { id }, query: { confirm } });

    it('ends sign-in, keys and visibility in the request, frees the name, and queues the rest', async () => {
      const one = await create(owner, { mustChangePassword: false });
      const login = () => api.anyone.login({ body: { username: one.username, password: 'long enough 9' } });
      const { accessToken } = (await login()).body;
      const signedIn = clientOf(accessToken ?? '');
      const answer = await remove(owner, one.id, one.username);
      expect(answer.status).to.equal(202);
      expect((await api.as(signedIn).listLibraries()).status).to.equal(401);
      expect((await login()).status).to.equal(401);
      expect((await api.as(owner).getUser({ params: { id: one.id } })).status).to.equal(404);
      const job = await api.deps.db('jobs').where({ id: answer.body.jobId }).first<{ kind: string; payload: object }>();
      expect([job.kind, job.payload]).to.deep.equal(['user.purge', { accountId: one.id }]);
      expect((await create(owner, { username: one.username })).id).to.not.equal(one.id);
    });

    const clientOf = (token: string): Person => ({ ...owner, headers: { authorization: `Bearer ${token}` } });

    it('requires the name, a confirmed session and rank, and never one’s own account', async () => {
      const { id, username } = await create(owner);
      expect(error(await remove(owner, id, 'other')).details.reason).to.equal('confirm-mismatch');
      const admin = await api.given.admin();
      expect(error(await remove(admin, admin.accountId, 'x')).details.by).to.equal('self');
      expect(error(await remove(admin, owner.accountId, 'x')).details.by).to.equal('rank');
      const heir = { confirm: username, transferTo: id };
      const toItself = await api.as(admin).deleteUser({ params: { id }, query: heir });
      expect(error(toItself).code).to.equal('VALIDATION_FAILED');
      await stale(admin);
      expect(error(await remove(admin, id, username)).details.by).to.equal('confirm');
    });
  });
});
