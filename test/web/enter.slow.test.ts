import { expect } from 'chai';
import { TOTP } from 'otpauth';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { notify } from '#areas/notifications/public.ts';
import { saveSettings } from '#platform/settings.ts';
import { type Api, clientFor } from '#support/api.ts';
import { DeliveryWorkers } from '#support/deliveries.ts';
import { linkOf, PostOffice } from '#support/post.ts';
import { atEnd } from '#support/stores.ts';
import { openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';

type Login = typeof OWNER;
const DEVICE = { 'x-client-id': 'test-client-of-the-owner', 'x-client-name': 'Test' };
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const FUTURE_WINDOW = { days: DAYS, from: hour(2), to: hour(3) };

function hour(ahead: number): string {
  return `${String((new Date().getUTCHours() + ahead) % 24).padStart(2, '0')}:00`;
}

async function signIn(page: Page, { username, password }: Login): Promise<void> {
  await page.fill('[name=username]', username);
  await page.fill('[name=password]', password);
  await page.click('button[type=submit]');
}

const home = (page: Page) => page.waitForSelector('h1:has-text("Home")');

describe('every way in', () => {
  let api: Api;
  let office: PostOffice;
  let headers: Record<string, string>;
  before(async () => {
    office = await PostOffice.start();
    const settings = {
      'server.publicUrl': 'https://foyer.example',
      'email.enabled': true,
      'email.smtp.host': 'smtp.test',
      'email.smtp.port': office.port,
      'email.smtp.security': 'none',
      'email.smtp.username': null,
      'email.from': 'Foyer <foyer@example.org>',
    };
    api = await ownedServer({ FOYER_SETTINGS: JSON.stringify(settings) });
    await new DeliveryWorkers(api).start();
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb(); // ten sign-ins a minute are the limit
    const { body } = await api.anyone.login({ headers: DEVICE, body: OWNER });
    headers = { authorization: `Bearer ${body.accessToken}` };
  });

  const set = async (values: Record<string, unknown>): Promise<void> => {
    await saveSettings(api.deps.db, values as never, null);
    await api.deps.settings.reload();
  };
  let made = 0;
  async function member(row: Record<string, unknown> = {}): Promise<Login & { id: string; email: string }> {
    made += 1;
    const login = { username: `member-${made}`, password: 'another good one' };
    const { body } = await api.anyone.createUser({
      headers,
      body: { ...login, role: 'member', mustChangePassword: false },
    });
    const email = `${login.username}@example.org`;
    await api.deps
      .db('accounts')
      .where({ id: body.id })
      .update({ email, email_verified: true, ...row });
    return { ...login, id: body.id, email };
  }
  const clientOf = async (login: Login) => {
    const { body } = await api.anyone.login({
      headers: { ...DEVICE, 'x-client-id': 'test-client-of-another' },
      body: { username: login.username, password: login.password },
    });
    return clientFor(api.url, { authorization: `Bearer ${body.accessToken}` });
  };
  const pathOf = ({ pathname, search, hash }: URL): string => pathname + search + hash;

  it('accepts an invite with a password, whose code leaves the address', async () => {
    const { body } = await api.anyone.createInvite({ headers, body: {} });
    const app = await openApp(api.url, pathOf(new URL(body.url ?? '', api.url)));
    await app.page.fill('[name=username]', OWNER.username);
    expect(app.page.url()).to.equal(`${api.url}/invite`);
    await app.page.fill('[name=password]', 'a fine new password');
    await app.page.click('button:has-text("Join")');
    await app.page.waitForSelector('[role=alert], .fault');
    await app.page.fill('[name=username]', 'ivo');
    await app.page.fill('[name=password]', 'a fine new password');
    await app.page.click('button:has-text("Join")');
    await home(app.page);
    await app.close();
  });

  it('sets a password by the link of a mail', async () => {
    const login = await member();
    const app = await openApp(api.url, '/sign-in');
    await app.page.click('a:has-text("Forgot the password?")');
    await app.page.fill('[name=login]', login.email);
    await app.page.click('button:has-text("Send a link")');
    await app.page.waitForSelector('[role=status]:has-text("on its way")');
    await app.page.goto(`${api.url}/reset#token=made-up`); // in the tab that is at this page already, as the next one
    await app.page.waitForSelector('[role=alert]');
    await app.page.click('button:has-text("Request a new link")');
    await app.page.waitForSelector('[name=login]');
    await app.page.goto(api.url + pathOf(linkOf(await office.mailTo(login.email))));
    await app.page.fill('[name=password]', 'the newest of them');
    expect(app.page.url()).to.equal(`${api.url}/reset`);
    await app.page.click('button:has-text("Set the password")');
    await app.page.click('a:has-text("Sign in")');
    await signIn(app.page, { ...login, password: 'the newest of them' });
    await home(app.page);
    await app.close();
  });

  it('confirms an address by the link of a mail, once', async () => {
    const login = await member();
    const next = `new-${login.email}`;
    await (await clientOf(login)).updateMe({ body: { email: next } });
    const path = pathOf(linkOf(await office.mailTo(next)));
    for (const again of [false, true]) {
      const app = await openApp(api.url, path);
      await app.page.click('button:has-text("Confirm the address")');
      await app.page.waitForSelector(again ? '[role=alert]' : '[role=status]:has-text("confirmed")');
      await app.close();
    }
    expect((await api.deps.db('accounts').where({ id: login.id }).first()).email).to.equal(next);
  });

  it('stops the mails of one kind by the link of a mail, then all of them', async () => {
    const login = await member();
    const { id: profileId } = await api.deps.db('profiles').where({ account_id: login.id }).first();
    const document = { kinds: { 'new-episode': { inApp: true, push: false, email: 'digest' } } };
    await api.deps.db('notification_preferences').insert({ profile_id: profileId, document, updated_at: new Date() });
    await api.deps.db.transaction((db) =>
      notify(db, {
        kind: 'export-ready',
        to: { accountIds: [login.id] },
        target: { kind: 'export', id: crypto.randomUUID() },
        data: { name: 'export' },
        url: '/exports',
      }),
    );
    const [link = ''] = /https:\/\/\S+\/unsubscribe#\S+/.exec((await office.mailTo(login.email)).text ?? '') ?? [];
    const app = await openApp(api.url, pathOf(new URL(link)));
    await app.page.click('button:has-text("Stop these mails")');
    await app.page.waitForSelector('[role=status]:has-text("m***@example.org")');
    const chosen = async (): Promise<unknown[]> => {
      const { document } = await api.deps.db('notification_preferences').where({ profile_id: profileId }).first();
      return ['export-ready', 'new-episode'].map((kind) => document.kinds[kind]?.email);
    };
    expect(await chosen()).to.deep.equal(['off', 'digest']);
    await app.page.click('button:has-text("Stop notices, alerts and summaries too")');
    await app.page.waitForSelector('button:has-text("Stop notices")', { state: 'detached' });
    expect(await chosen()).to.deep.equal(['off', 'off']);
    await app.close();
  });

  it('signs in by a tile, with the second factor of an authenticator app', async () => {
    await set({ 'auth.accountTiles': true });
    const login = await member({ listed: true, display_name: 'Tilda' });
    const me = await clientOf(login);
    const { setupId, secret = '' } = (await me.startTotp()).body;
    const totp = new TOTP({ secret });
    await me.enableTotp({ body: { setupId, code: totp.generate({ timestamp: Date.now() - 30_000 }) } });
    const app = await openApp(api.url, '/libraries');
    await app.page.click('.tiles button:has-text("Tilda")');
    await app.page.fill('[name=password]', login.password);
    await app.page.click('button[type=submit]');
    await app.page.waitForSelector('h1:has-text("One more step")');
    await app.page.fill('[name=code]', totp.generate());
    await app.page.click('button:has-text("Continue")');
    await app.page.waitForSelector('h1:has-text("Libraries")');
    await app.close();
    await set({ 'auth.accountTiles': false });
  });

  it('shows a clock outside the viewing hours, with the other profiles and sign-out', async () => {
    const login = await member({ viewing_hours: JSON.stringify([FUTURE_WINDOW]), hours_zone: 'UTC' });
    await api.deps.db('profiles').insert({ id: crypto.randomUUID(), account_id: login.id, name: 'Small', main: false });
    const app = await openApp(api.url, '/libraries');
    await signIn(app.page, login);
    await app.page.waitForSelector('h1:has-text("it is time for something else")');
    expect(await app.page.textContent('.clock')).to.match(/Watching goes on at .*\d/);
    await app.page.click('a:has-text("Another profile")');
    await app.page.waitForSelector('button:has-text("Small")');
    await app.page.goBack();
    await app.page.click('button:has-text("Sign out")');
    await app.page.waitForSelector('[name=username]');
    await app.close();
  });

  it('returns to the page after a session that the server ended, and keeps no answer of it', async () => {
    const login = await member();
    const app = await openApp(api.url, '/libraries');
    await signIn(app.page, login);
    await app.page.waitForSelector('h1:has-text("Libraries")');
    await api.deps.db('sessions').where({ account_id: login.id }).delete();
    await app.page.goto(`${api.url}/me`);
    await app.page.waitForSelector('[name=username]');
    expect(new URL(app.page.url()).searchParams.get('return')).to.equal('/me');
    await signIn(app.page, OWNER);
    await app.page.waitForSelector('h1:has-text("Mine")');
    expect(await app.page.textContent('main')).to.not.include(login.username);
    await app.close();
  });

  it('accepts an invite with a passkey on localhost, and signs in by it', async () => {
    // a passkey belongs to the host of the public address, or of the page; this server without mail comes last, since the
    // settings of notices are those of the process
    const local = await ownedServer();
    const origin = local.url.replace('127.0.0.1', 'localhost');
    const { body: session } = await local.anyone.login({ headers: DEVICE, body: OWNER });
    const authorization = `Bearer ${session.accessToken}`;
    const { body } = await local.anyone.createInvite({ headers: { authorization }, body: { message: 'Come in' } });
    const app = await openApp(origin, '/favicon.svg');
    const cdp = await app.context.newCDPSession(app.page);
    await cdp.send('WebAuthn.enable');
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    });
    await app.page.goto(origin + pathOf(new URL(body.url ?? '', origin)));
    await app.page.waitForSelector('p:has-text("Come in")');
    await app.page.fill('[name=username]', 'pia');
    await app.page.click('button:has-text("Join with a passkey")');
    await home(app.page);
    await app.page.goto(`${origin}/me`);
    await app.page.click('main button:has-text("Sign out")');
    const button = app.page.locator('button:has-text("Sign in with a passkey")');
    await Promise.race([button.click({ timeout: 30_000 }).catch(() => undefined), home(app.page)]); // the field may have offered it already
    await home(app.page);
    expect(await app.page.textContent('.who')).to.include('pia');
    await app.close();
  });

  describe('on plain http under a name', () => {
    let context: BrowserContext;
    before(async () => {
      const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: ['--no-sandbox', '--host-resolver-rules=MAP foyer.test 127.0.0.1'],
      });
      atEnd(() => browser.close());
      context = await browser.newContext({ locale: 'en-GB' });
    });

    it('signs in in two tabs, says why there are no passkeys, and signs both out', async () => {
      const origin = api.url.replace('127.0.0.1', 'foyer.test');
      const first = await openApp(origin, '/', { context });
      await first.page.waitForSelector('p:has-text("Passkeys need an address that begins with https.")');
      expect(await first.page.evaluate('isSecureContext')).to.equal(false);
      expect(await first.page.locator('button:has-text("passkey")').count()).to.equal(0);
      await signIn(first.page, OWNER);
      await home(first.page);
      const second = await openApp(origin, '/libraries', { context });
      await second.page.waitForSelector('h1:has-text("Libraries")');
      await first.page.goto(`${origin}/me`);
      await first.page.click('main button:has-text("Sign out")');
      await second.page.waitForSelector('[name=username]');
      await first.page.waitForSelector('[name=username]');
      await first.close();
      await second.close();
    });
  });
});
