import { expect } from 'chai';
import { createAccount } from '#areas/accounts/public.ts';
import { hashPassword } from '#areas/auth/public.ts';
import { notify } from '#areas/notifications/public.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { DeliveryWorkers } from '#support/deliveries.ts';
import type { Person } from '#support/given.ts';
import { linkOf, PostOffice, tokenOf } from '#support/post.ts';
import { eventually } from '#support/stores.ts';
import { smtpAddress } from '#workers/email/smtp-address.ts';

const HOUR_MS = 3_600_000;
const errorOf = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> } }).error;

describe('mail and its causes', () => {
  let api: Api;
  let office: PostOffice;
  let workers: DeliveryWorkers;
  let owner: Person;
  let bare: Api;
  before(async () => {
    bare = await startApi();
    office = await PostOffice.start();
    const settings = {
      'server.publicUrl': 'https://foyer.example',
      'email.enabled': true,
      'email.smtp.host': 'smtp.test',
      'email.smtp.port': office.port,
      'email.smtp.security': 'none',
      'email.smtp.username': null,
      'email.from': 'Foyer <foyer@example.org>',
      'email.perHour': 1000,
    };
    api = await startApi({ FOYER_SETTINGS: JSON.stringify(settings) });
    workers = new DeliveryWorkers(api);
    await workers.start();
    owner = await api.given.owner();
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb();
  });
  let number = 0;
  const address = (name = 'someone'): string => {
    number += 1;
    return `${name}-${number}@example.org`;
  };
  const known = (email: string, more: object = {}) =>
    api.given.person('member', { email, email_verified: true, ...more });
  const nameOf = async ({ accountId }: Person): Promise<string> =>
    (await api.deps.db('accounts').where({ id: accountId }).first<{ username: string }>('username')).username;
  const mails = (more: object) => api.deps.db('email_messages').where(more).orderBy('id');
  const idle = () =>
    eventually(
      async () =>
        (await api.deps.db('jobs').where({ kind: 'email.send' }).whereIn('state', ['waiting', 'active'])).length === 0,
      20_000,
    );

  describe('a new password', () => {
    const send = (login: string) => api.anyone.requestPasswordReset({ body: { login } });

    it('answers the same for everybody and mails a verified address alone, by name or address', async () => {
      const email = address('reset');
      const person = await known(email);
      const unproved = await api.given.person('member', { email: address('unproved'), email_verified: false });
      const answers = [
        await send(await nameOf(person)),
        await send(email.toUpperCase()),
        await send('an unknown account'),
        await send(await nameOf(unproved)),
      ];
      for (const { status, body } of answers)
        expect([status, body]).to.deep.equal([202, { expiresInSec: 3600, retryAfterSec: 60 }]);
      await office.mailTo(email);
      await idle();
      expect(office.countTo(email)).to.equal(2);
      expect(await mails({ account_id: unproved.accountId })).to.deep.equal([]);
      const jobs = await api.deps.db('jobs').whereRaw(`payload -> 'reset' is not null`).pluck('payload');
      expect(jobs.length).to.equal(4);
      expect(JSON.stringify(jobs)).to.not.include('nobody');
    });

    it('sets the password with the token of the mail, which proves the address, and ends all sessions', async () => {
      const email = address('set');
      const person = await known(email);
      await send(email);
      const mail = await office.mailTo(email);
      expect(linkOf(mail).pathname).to.equal('/reset');
      expect(linkOf(mail).search).to.equal('');
      const token = tokenOf(mail);
      expect(token).to.match(/^foypr_/);
      await api.deps.db('accounts').where({ id: person.accountId }).update({ email_verified: false });
      const done = await api.anyone.completePasswordReset({ body: { token, newPassword: 'a new password 12' } });
      expect(done.body).to.deep.include({ changed: true });
      const row = await api.deps.db('accounts').where({ id: person.accountId }).first();
      expect(row.email_verified).to.equal(true);
      expect((await api.as(person).getMe()).status).to.equal(401);
    });

    it('mails at most three in an hour', async () => {
      const email = address('often');
      const person = await known(email);
      for (let requested = 0; requested < 5; requested += 1) expect((await send(email)).status).to.equal(202);
      await idle();
      await eventually(async () => office.countTo(email) === 3, 20_000);
      expect((await mails({ account_id: person.accountId })).length).to.equal(3);
    });

    it('informs an account of another provider that it has no password', async () => {
      const email = address('oidc');
      const person = await known(email, { password_hash: null, factors: ['oidc'] });
      await send(email);
      const mail = await office.mailTo(email);
      expect(mail.text).to.include('another provider');
      expect(mail.text).to.not.include('foypr_');
      const resets = await api.deps.db('password_resets').where({ account_id: person.accountId });
      expect(resets).to.deep.equal([]);
    });

    it('is 409 without a mail server, and 429 after ten in a minute', async () => {
      const none = await bare.anyone.requestPasswordReset({ body: { login: 'anybody' } });
      expect([none.status, errorOf(none).details.reason]).to.deep.equal([409, 'mail-not-configured']);
      for (let requested = 0; requested < 10; requested += 1) await send('nobody');
      expect((await send('nobody')).status).to.equal(429);
    });
  });

  describe('the own account', () => {
    const change = (person: Person, body: object) => api.as(person).updateMe({ body });

    it('changes its own data', async () => {
      const person = await api.given.member();
      const answer = await change(person, {
        displayName: 'Robin',
        language: 'de',
        timeZone: 'Europe/Berlin',
        discoverable: true,
      });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      expect(answer.body).to.deep.include({ language: 'de', timeZone: 'Europe/Berlin', discoverable: true });
      expect(answer.body.account.displayName).to.equal('Robin');
      expect((await change(person, { language: null })).body.language).to.equal(null);
      const listed = await change(person, { listed: false });
      expect(listed.status).to.equal(200);
      const audits = await api.deps.db('audit_log').where({ account_id: person.accountId, action: 'account-changed' });
      expect(audits.length).to.equal(3);
    });

    it('requires a confirmed session for name and address, the main profile, and no child for fields that a child may not change', async () => {
      const person = await api.given.member();
      await api.deps.db('sessions').where({ account_id: person.accountId }).update({ confirmed_until: null });
      for (const body of [{ username: 'another-name' }, { email: address() }, { email: null }]) {
        const answer = await change(person, body);
        expect([answer.status, errorOf(answer).details.by]).to.deep.equal([403, 'confirm']);
      }
      const child = await api.given.child();
      for (const body of [{ username: 'kid-name' }, { email: address() }, { discoverable: true }]) {
        const answer = await change(child, body);
        expect([answer.status, errorOf(answer).details.by]).to.deep.equal([403, 'role']);
      }
      expect((await change(child, { displayName: 'Kim' })).status).to.equal(200);
      await api.deps.db('profiles').where({ account_id: person.accountId }).update({ main: false });
      expect(errorOf(await change(person, { displayName: 'x' })).details.by).to.equal('profile');
    });

    it('reports that a name is taken', async () => {
      const other = await api.given.member();
      const person = await api.given.member();
      const answer = await change(person, { username: (await nameOf(other)).toUpperCase() });
      expect([answer.status, errorOf(answer).details.reason]).to.deep.equal([409, 'username-taken']);
    });

    it('applies a new address once its link is opened, once, and notifies the former one', async () => {
      const former = address('former');
      const next = address('next');
      const person = await known(former);
      const requested = await change(person, { email: next });
      expect(requested.body.email).to.deep.equal({ address: former, verified: true, pending: next });
      const first = await office.mailTo(next);
      expect((await change(person, { email: next })).status).to.equal(200);
      await eventually(async () => office.countTo(next) === 2, 20_000);
      const second = await office.mailTo(next);
      expect(linkOf(second).pathname).to.equal('/confirm-email');
      expect(tokenOf(second)).to.match(/^foyec_[\w-]{43}$/);
      const open = (token: string) => api.anyone.confirmEmailAddress({ body: { token } });
      expect((await open(tokenOf(first))).status, 'the newer one voids it').to.equal(404);
      const done = await open(tokenOf(second));
      const { displayName } = (await api.as(person).getMe()).body.account;
      expect([done.status, done.body]).to.deep.equal([200, { address: next, displayName }]);
      expect((await open(tokenOf(second))).status, 'used').to.equal(404);
      expect((await api.as(person).getMe()).body.email).to.deep.equal({ address: next, verified: true });
      const notice = await office.mailTo(former);
      expect(notice.text).to.include(next);
      expect(done.headers.get('set-cookie')).to.equal(null);
    });

    it('does not reveal that an address is taken, and gives it to the person who proves it', async () => {
      const email = address('taken');
      const holder = await known(email);
      const person = await api.given.member();
      const requested = await change(person, { email });
      expect(requested.body.email).to.deep.equal({ address: email, verified: false, pending: email });
      await idle();
      expect(office.countTo(email)).to.equal(0);
      await api.deps.db('accounts').where({ id: holder.accountId }).update({ email_verified: false });
      await change(person, { email });
      const token = tokenOf(await office.mailTo(email));
      await api.deps.db('accounts').where({ id: holder.accountId }).update({ email_verified: true });
      const late = await api.anyone.confirmEmailAddress({ body: { token } });
      expect([late.status, errorOf(late).details.reason]).to.deep.equal([409, 'address-taken']);
      await api.deps.db('accounts').where({ id: holder.accountId }).update({ email_verified: false });
      expect((await api.anyone.confirmEmailAddress({ body: { token } })).status).to.equal(200);
      expect((await api.as(holder).getMe()).body.email).to.equal(null);
    });

    it('refuses tokens that are wrong or over 48 hours old, and the eleventh in a minute', async () => {
      const email = address('old');
      const person = await api.given.member();
      await change(person, { email });
      const token = tokenOf(await office.mailTo(email));
      const row = await api.deps.db('email_confirmations').where({ account_id: person.accountId }).first();
      expect((row.expires_at.getTime() - Date.now()) / HOUR_MS).to.be.within(47.9, 48);
      await api.deps
        .db('email_confirmations')
        .where({ account_id: person.accountId })
        .update({ expires_at: new Date() });
      const statuses = [];
      for (let tried = 0; tried < 11; tried += 1)
        statuses.push(
          (await api.anyone.confirmEmailAddress({ body: { token: tried ? `foyec_${tried}` : token } })).status,
        );
      expect(statuses).to.deep.equal([...Array(10).fill(404), 429]);
    });

    it('keeps an address unverified without a mail server, where it is no name to sign in with; null clears', async () => {
      const email = address('bare');
      const account = await createAccount(bare.deps.db, {
        username: 'bare-member',
        role: 'member',
        passwordHash: await hashPassword('a long password 1'),
      });
      const login = (username: string) =>
        bare.anyone.login({ body: { username, password: 'a long password 1', keep: 'token' } });
      const { accessToken } = (await login('bare-member')).body;
      const headers = { authorization: `Bearer ${accessToken}` };
      const me = await bare.anyone.updateMe({ body: { email }, headers });
      expect(me.body.email).to.deep.equal({ address: email, verified: false });
      expect((await login(email)).status).to.equal(401);
      const link = { account_id: account.id, hash: Buffer.from('mailed before'), by_mail: true };
      await bare.deps.db('password_resets').insert({ ...link, expires_at: new Date(Date.now() + 60_000) });
      await bare.anyone.updateMe({ body: { email: address('bare2') }, headers });
      const open = await bare.deps.db('password_resets').where({ account_id: account.id });
      expect(open, 'a link that went to another address would prove this one').to.deep.equal([]);
      await bare.anyone.updateMe({ body: { email }, headers });
      const other = await bare.given.member();
      const same = await bare.as(other).updateMe({ body: { email } });
      expect(same.body.email, 'no member reveals that it is taken').to.deep.equal({ address: email, verified: false });
      expect((await bare.anyone.updateMe({ body: { email: null }, headers })).body.email).to.equal(null);
      const row = await bare.deps.db('accounts').where({ id: account.id }).first();
      expect(row.email).to.equal(null);
    });
  });

  describe('accounts that others make', () => {
    it('get an invitation with which the address is proved', async () => {
      const email = address('invited');
      const made = await api.as(owner).createInvite({ body: { email, role: 'member', message: 'Come in' } });
      expect(made.body.mailed).to.equal(true);
      const mail = await office.mailTo(email);
      expect(mail.text).to.include('Come in');
      const body = { code: tokenOf(mail), username: 'invited-one', password: 'a long password 1' };
      expect((await api.anyone.acceptInvite({ body })).status).to.equal(201);
      const row = await api.deps.db('accounts').where({ email }).first();
      expect(row.email_verified).to.equal(true);
      const link = await bare.as(await bare.given.owner()).createInvite({ body: { email, role: 'member' } });
      expect(link.body.mailed).to.equal(false);
    });

    it('get a link to choose a password, in their language', async () => {
      const email = address('made');
      const body = { username: 'made-one', email, role: 'member', sendInvite: true, language: 'de' };
      const made = await api.as(owner).createUser({ body });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      const mail = await office.mailTo(email);
      expect(mail.text).to.include('Wähle ein Passwort');
      expect(made.body.resetUrl?.endsWith(tokenOf(mail))).to.equal(true);
      const [row] = await mails({ account_id: made.body.id });
      expect([row.kind, row.language]).to.deep.equal(['password-set', 'de']);
    });

    it('get access back by mail that names the change and its author', async () => {
      const email = address('helped');
      const person = await known(email);
      const body = { sendMail: true, removePasskeys: true };
      const done = await api.as(owner).resetUserSignIn({ params: { id: person.accountId }, body });
      expect(done.body).to.deep.include({ mailed: true });
      await eventually(async () => office.countTo(email) === 2, 20_000);
      const [reset, notice] = ['password', 'Changed'].map((word) =>
        office.got.find(
          ({ to1, text }) => to1 === email && text?.includes(word) && (word !== 'password' || text.includes('foypr_')),
        ),
      );
      expect(reset?.text).to.include('foypr_');
      expect(notice?.text).to.match(/passkeys.*\(owner-/);
    });
  });

  describe('notifications', () => {
    const sign = async (username: string, device: string) =>
      api.anyone.login({
        body: { username, password: 'a long password 1' },
        headers: { 'x-client-id': device, 'x-client-name': device },
      });

    it('notify a verified address of a new device and of other ways to sign in, without a way to end that', async () => {
      const email = address('device');
      const person = await known(email, { password_hash: await hashPassword('a long password 1') });
      const username = await nameOf(person);
      await sign(username, 'first-device-of-it-all');
      await sign(username, 'second-device-of-it-all');
      const mail = await office.mailTo(email);
      expect(mail.text).to.include('second-device-of-it-all');
      expect(mail.headers.some(({ key }) => key === 'list-unsubscribe')).to.equal(false);
      const [row] = await mails({ account_id: person.accountId });
      expect(row.kind).to.equal('sign-in-new-device');
      const changed = await api
        .as(person)
        .changePassword({ body: { currentPassword: 'a long password 1', newPassword: 'another long password' } });
      expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
      await eventually(async () => office.countTo(email) === 2, 20_000);
      expect((await mails({ account_id: person.accountId, kind: 'methods-changed' })).length).to.equal(1);
    });

    const ready = (person: Person, name = 'export') =>
      api.deps.db.transaction((db) =>
        notify(db, {
          kind: 'export-ready',
          to: { accountIds: [person.accountId] },
          target: { kind: 'export', id: newId() },
          data: { name },
          url: '/exports',
        }),
      );

    it('do not go to an address that is not verified, nor when the person has it no more', async () => {
      const email = address('unverified');
      const person = await api.given.person('member', { email, email_verified: false });
      await ready(person);
      expect(await mails({ account_id: person.accountId })).to.deep.equal([]);
    });

    it('end by one click, for their kind alone; GET and JSON do nothing', async () => {
      const email = address('click');
      const person = await known(email);
      await ready(person);
      const mail = await office.mailTo(email);
      const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value ?? '';
      expect(header('list-unsubscribe-post')).to.equal('List-Unsubscribe=One-Click');
      const [, url = ''] = /^<https:\/\/foyer\.example(\S+)>$/.exec(header('list-unsubscribe')) ?? [];
      expect((await api.fetch(url)).status).to.equal(405);
      const post = (body: string, type: string) =>
        api.fetch(url, { method: 'POST', body, headers: { 'content-type': type } });
      expect((await post('{}', 'application/json')).status).to.equal(400);
      const done = await post('List-Unsubscribe=One-Click', 'application/x-www-form-urlencoded');
      expect(done.status).to.equal(200);
      expect(await done.json()).to.deep.equal({ kinds: ['notification'], address: 'c***@example.org' });
      expect((await post('', 'text/plain')).status, 'any number of times').to.equal(200);
      const preferences = (await api.as(person).getNotificationPreferences()).body.kinds;
      expect(preferences['export-ready']?.email).to.equal('off');
      expect(preferences['methods-changed']?.email).to.equal('at-once');
      await ready(person);
      await idle();
      expect(office.countTo(email)).to.equal(1);
      const token = new URL(`https://x${url}`).searchParams.get('token') ?? '';
      const wrong = `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`;
      expect((await api.anyone.unsubscribeEmail({ query: { token: wrong } })).status).to.equal(404);
      const all = await api.anyone.unsubscribeEmail({ query: { token, kind: 'all' } });
      expect(all.body.kinds).to.deep.equal(['notification', 'digest', 'alert']);
    });
  });

  describe('lists for admins', () => {
    it('is the state without credentials', async () => {
      const { body } = await api.as(owner).getEmailStatus();
      expect(body).to.deep.include({
        configured: true,
        enabled: true,
        host: 'smtp.test',
        publicUrl: true,
        paused: false,
      });
      expect(JSON.stringify(body)).to.not.match(/password|username/i);
      expect(body.queue.sent24h).to.be.greaterThan(0);
      expect((await bare.as(await bare.given.admin()).getEmailStatus()).body).to.deep.include({ configured: false });
    });

    it('is the log without bodies, links and whole addresses, filtered; subjects of those who are not below are left out', async () => {
      const admin = await api.given.admin();
      const email = address('rank');
      const above = await api.given.person('admin', { email, email_verified: true });
      await api.anyone.requestPasswordReset({ body: { login: email } });
      await office.mailTo(email);
      const list = async (person: Person, filter: string) =>
        (await api.as(person).listEmailMessages({ query: { filter } })).body.items;
      const [mine] = await list(above, `user:eq:${above.accountId}`);
      expect(mine?.subject).to.be.a('string');
      expect(mine?.to).to.equal('r***@example.org');
      const [theirs] = await list(admin, `user:eq:${above.accountId}`);
      expect(theirs).to.not.have.property('subject');
      const kinds = new Set((await list(admin, 'kind:eq:invitation')).map(({ kind }) => kind));
      expect([...kinds]).to.deep.equal(['invitation']);
      expect((await list(admin, 'state:eq:suppressed')).length).to.equal(0);
      expect(JSON.stringify(await list(admin, 'kind:eq:password-reset'))).to.not.match(/foypr_|body|https/);
    });

    it('is every kind of mail beforehand, which sends nothing', async () => {
      const before = office.got.length;
      for (const kind of [
        'invitation',
        'password-reset',
        'password-set',
        'address-confirm',
        'sign-in-new-device',
        'methods-changed',
        'alert',
        'notification',
        'digest',
        'test',
      ])
        for (const language of ['en', 'de']) {
          const { status, body } = await api.as(owner).previewEmail({ query: { kind, language } });
          expect(status, kind).to.equal(200);
          const made = JSON.parse((body as unknown as Buffer).toString());
          expect(made).to.have.all.keys('subject', 'html', 'text', 'sample');
          expect(made.subject, kind).to.match(/\S/);
          expect(`${made.subject}${made.text}`, kind).to.not.match(/[{}]|undefined/);
          expect(made.html).to.not.match(/\{\{|<!--#/);
        }
      const html = await api.as(owner).previewEmail({ query: { kind: 'invitation', part: 'html' } });
      expect(html.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(html.headers.get('content-security-policy')).to.equal(
        "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'",
      );
      expect((html.body as unknown as Buffer).toString()).to.match(/src="data:image\/png;base64/);
      expect(office.got.length).to.equal(before);
    });

    it('is a test with settings that are not saved, within five a minute; the saved password goes to the saved host alone', async () => {
      const test = (body: object) => api.as(owner).sendTestEmail({ body });
      const to = address('test');
      const good = (await test({ to })).body;
      expect(good).to.deep.include({ ok: true });
      expect((await office.mailTo(to)).subject).to.include('Test');
      const bad = (await test({ to, settings: { 'email.smtp.port': 9 } })).body;
      expect(bad).to.deep.include({ ok: false, stage: 'connect', code: 'ECONNREFUSED' });
      office.from = () => ({ code: 553, message: 'not your sender' });
      const from = (await test({ to })).body;
      expect(from).to.deep.include({ ok: false, stage: 'from', code: '553' });
      expect(from.response).to.include('not your sender');
      office.from = () => undefined;
      expect((await test({})).status, 'no address of its own').to.equal(400);
      await test({ to });
      expect((await test({ to })).status).to.equal(429);
      const none = await bare.as(await bare.given.admin()).sendTestEmail({ body: { to } });
      expect([none.status, errorOf(none).details.reason]).to.deep.equal([409, 'not-configured']);
    });
  });

  it('reaches no mail server at loopback, link-local or the API of the cluster, and any other', async () => {
    const refused = [
      '127.0.0.1',
      'localhost',
      '::1',
      '[::1]',
      '::ffff:127.0.0.1',
      '169.254.169.254',
      'fe80::1',
      '0.0.0.0',
      '10.96.0.1',
    ];
    for (const host of refused) {
      const judged = await smtpAddress(host, '10.96.0.1').then(
        () => 'reached',
        () => 'refused',
      );
      expect(judged, host).to.equal('refused');
    }
    for (const host of ['192.168.1.5', '10.96.0.2', '203.0.113.9', 'fd00::25'])
      expect(await smtpAddress(host, '10.96.0.1')).to.equal(host);
  });
});
