import { expect } from 'chai';
import { trimMails } from '#areas/email/messages/messages.store.ts';
import { notify } from '#areas/notifications/public.ts';
import { newId } from '#platform/ids.ts';
import { enqueue } from '#platform/queue.ts';
import { type Api, startApi } from '#support/api.ts';
import { DeliveryWorkers } from '#support/deliveries.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { PostOffice } from '#support/post.ts';
import { eventually } from '#support/stores.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Setup {
  api: Api;
  office: PostOffice;
  workers: DeliveryWorkers;
}

async function setUp(more: object = {}): Promise<Setup> {
  const office = await PostOffice.start();
  const settings = {
    'server.publicUrl': 'https://foyer.example',
    'email.enabled': true,
    'email.smtp.host': 'smtp.test',
    'email.smtp.port': office.port,
    'email.smtp.security': 'none',
    'email.from': 'foyer@example.org',
    ...more,
  };
  const api = await startApi({ FOYER_SETTINGS: JSON.stringify(settings) });
  const workers = new DeliveryWorkers(api);
  await workers.start();
  return { api, office, workers };
}

const export1 = (api: Api, person: Person, name = 'it') =>
  api.deps.db.transaction((db) =>
    notify(db, {
      kind: 'export-ready',
      to: { accountIds: [person.accountId] },
      target: { kind: 'export', id: newId() },
      data: { name },
      url: '/exports',
    }),
  );

describe('the weekly digest', () => {
  const local = new Date();
  const day = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][local.getUTCDay()];
  let setup: Setup;
  before(async () => {
    setup = await setUp({
      'email.digest.day': day,
      'email.digest.hour': local.getUTCHours(),
      'server.timeZone': 'UTC',
    });
  });
  const person = async (more: object = {}, preferences: object = {}) => {
    const email = `reader-${newId().slice(-8)}@example.org`;
    const made = await setup.api.given.person('member', { email, email_verified: true, ...more });
    const kinds = { 'export-ready': { inApp: true, push: false, email: 'digest' } };
    await setup.api.as(made).setNotificationPreferences({ body: { kinds, ...preferences } });
    return { ...made, email };
  };
  const run = async (): Promise<void> => {
    const id = await setup.api.deps.db.transaction((db) => enqueue(db, 'email.digest', { payload: {} }));
    await eventually(async () => (await setup.api.deps.db('jobs').where({ id }).first()).state === 'completed', 20_000);
    await eventually(
      async () => (await setup.api.deps.db('email_messages').whereIn('state', ['waiting', 'sending'])).length === 0,
      20_000,
    );
  };

  it('has new items that its reader may see, merged, and held-back ones; once in six days', async () => {
    const { api, office, workers } = setup;
    const { db } = api.deps;
    const seen = await givenLibrary(db, 'shows', { everyone: true });
    const hidden = await givenLibrary(db, 'movies', { everyone: false });
    await givenItem(db, hidden, { title: 'Secret film' });
    await givenItem(db, seen, { type: 'movie', title: 'Old film', added_at: new Date(Date.now() - 8 * DAY_MS) });
    const show = await givenItem(db, seen, { type: 'show', title: 'The Show' });
    const season = await givenItem(db, seen, { type: 'season', title: 'Season 1', parent_id: show });
    for (const title of ['One', 'Two'])
      await givenItem(db, seen, { type: 'episode', title, parent_id: season, grandparent_id: show });
    const going = await givenItem(db, seen, { title: 'Half a film', added_at: new Date(Date.now() - 30 * DAY_MS) });
    const reader = await person();
    const elsewhere = await person({ time_zone: 'Pacific/Auckland' });
    const abroad = await person();
    await db('profiles').where({ id: abroad.profileId }).update({ time_zone: 'Pacific/Auckland' });
    const unproved = await person({ email_verified: false });
    const plain = await person({}, { hideTitles: true });
    await db('item_states').insert({
      profile_id: reader.profileId,
      item_id: going,
      library_id: seen.id,
      position_ms: 5000,
      last_played_at: new Date(),
    });
    await export1(api, reader);
    await api.deps.db.raw(
      `insert into notifications (id, profile_id, kind, level, merge_key)
       select gen_random_uuid(), ?, 'friend-accepted', 'info', 'k' from generate_series(1, 60)`,
      [reader.profileId],
    );
    expect(office.countTo(reader.email), 'kept for the digest').to.equal(0);
    await run();
    const { text = '', headers, subject } = await office.mailTo(reader.email);
    expect(subject).to.include('The week on');
    expect(text.match(/The Show – Season 1/g)).to.have.length(1);
    expect(text).to.include('Half a film').and.to.include('What happened');
    expect(text).to.not.include('Secret film').and.not.include('Old film');
    expect(headers.some(({ key }) => key === 'list-unsubscribe')).to.equal(true);
    const { text: hiding = '' } = await office.mailTo(plain.email);
    expect(hiding).to.include('One title').and.to.not.include('The Show');
    expect([elsewhere, abroad, unproved].map(({ email }) => office.countTo(email))).to.deep.equal([0, 0, 0]);
    await run();
    expect(office.countTo(reader.email)).to.equal(1);
    await workers.goOn(7 * DAY_MS);
    await run();
    expect(office.countTo(reader.email), 'with nothing new there is none').to.equal(1);
  });
});

describe('mails of an hour', () => {
  it('holds back notifications first and invitations last', async () => {
    const { api, office, workers } = await setUp({ 'email.perHour': 2 });
    const owner = await api.given.owner();
    const email = 'first@example.org';
    const person = await api.given.person('member', { email, email_verified: true });
    await export1(api, person, 'one');
    await office.mailTo(email);
    await eventually(async () => (await api.deps.db('email_messages').where({ state: 'sent' })).length === 1, 20_000);
    await export1(api, person, 'two');
    await eventually(
      async () => (await api.deps.db('email_messages').whereNotNull('next_attempt_at')).length === 1,
      20_000,
    );
    const invite = (to: string) => api.as(owner).createInvite({ body: { email: to, role: 'member' } });
    await invite('second@example.org');
    await office.mailTo('second@example.org');
    await eventually(async () => (await api.deps.db('email_messages').where({ state: 'sent' })).length === 2, 20_000);
    await invite('third@example.org');
    await eventually(
      async () => (await api.deps.db('email_messages').whereNotNull('next_attempt_at')).length === 2,
      20_000,
    );
    expect([office.countTo(email), office.countTo('third@example.org')]).to.deep.equal([1, 0]);
    expect((await api.as(owner).getEmailStatus()).body.queue.delayed).to.equal(2);
    await workers.goOn(HOUR_MS + 60_000);
    await office.mailTo('third@example.org');
  });

  it('merges mails beyond twenty for a person into one', async () => {
    const { api, office, workers } = await setUp();
    const email = 'many@example.org';
    const person = await api.given.person('member', { email, email_verified: true });
    for (let sent = 0; sent < 23; sent += 1) await export1(api, person, `number ${sent}`);
    await eventually(async () => office.countTo(email) === 20, 30_000);
    const held = await api.deps.db('email_messages').where({ held: true });
    expect(held.map((row) => row.notification_ids.length)).to.deep.equal([3]);
    expect(held[0].next_attempt_at.getTime()).to.be.greaterThan(workers.now() + HOUR_MS - 60_000);
    await workers.goOn(HOUR_MS + 60_000);
    await eventually(async () => office.countTo(email) === 21, 20_000);
    const { text = '', subject } = await office.mailTo(email);
    expect(subject).to.equal('3 new notifications');
    expect(text.match(/^- /gm)).to.have.length(3);
  });

  it('reads the preferences of its reader again before it sends held-back mail', async () => {
    const { api, office, workers } = await setUp();
    const [off, muting] = ['off@example.org', 'muting@example.org'];
    const people = await Promise.all(
      [off, muting].map((email) => api.given.person('member', { email, email_verified: true })),
    );
    const [one, other] = people as [Person, Person];
    const { accountId: actorId } = await api.given.member();
    const prefer = (person: Person, more: object) => api.as(person).setNotificationPreferences({ body: more });
    const mailed = { inApp: true, push: false, email: 'at-once' };
    const pausedUntil = new Date(workers.now() + HOUR_MS).toISOString();
    for (const person of people) await prefer(person, { kinds: { 'friend-request': mailed }, pausedUntil });
    await api.deps.db.transaction((db) =>
      notify(db, {
        ...{ kind: 'friend-request', actorId, data: { name: 'x' } },
        to: { accountIds: people.map(({ accountId }) => accountId) },
      }),
    );
    await prefer(one, { kinds: { 'friend-request': { ...mailed, email: 'off' } } });
    await prefer(other, { kinds: { 'friend-request': mailed }, muted: { userIds: [actorId] } });
    expect(await api.deps.db('email_messages').where({ state: 'waiting' })).to.have.length(2);
    await workers.goOn(HOUR_MS + 60_000);
    await eventually(
      async () => (await api.deps.db('email_messages').where({ state: 'expired' })).length === 2,
      20_000,
    );
    expect([office.countTo(off), office.countTo(muting)]).to.deep.equal([0, 0]);
  });

  it('ends the mails of every profile of the account, whose address is one', async () => {
    const { api, office } = await setUp();
    const email = 'family@example.org';
    const person = await api.given.person('member', { email, email_verified: true });
    const profileId = newId();
    await api.deps.db('profiles').insert({ id: profileId, account_id: person.accountId, name: 'Second' });
    const ready = () =>
      api.deps.db.transaction((db) =>
        notify(db, {
          ...{ kind: 'export-ready', data: { name: 'it' }, url: '/exports' },
          ...{ to: { profileIds: [profileId] }, target: { kind: 'export', id: newId() } },
        }),
      );
    await ready();
    const mail = await office.mailTo(email);
    const { value = '' } = mail.headers.find(({ key }) => key === 'list-unsubscribe') ?? {};
    const token = /token=([\w-]+)/.exec(value)?.[1] ?? '';
    expect((await api.anyone.unsubscribeEmail({ query: { token } })).status).to.equal(200);
    await ready();
    expect(await api.deps.db('email_messages').where({ account_id: person.accountId })).to.have.length(1);
  });

  it('leaves mails with links waiting for an address of the server', async () => {
    const { api, office } = await setUp({ 'server.publicUrl': null });
    const owner = await api.given.owner();
    await api.as(owner).createInvite({ body: { email: 'waits@example.org', role: 'member' } });
    const row = await eventually(() => api.deps.db('email_messages').whereNotNull('next_attempt_at').first(), 20_000);
    expect([row.state, row.attempts, office.connections]).to.deep.equal(['waiting', 0, 0]);
    const reset = await api.anyone.requestPasswordReset({ body: { login: 'anybody' } });
    expect((reset.body as never as { error: { details: object } }).error.details).to.deep.equal({
      reason: 'no-public-url',
    });
  });

  it('drops a reset whose link is dead, reports so when a retry is requested, and trims the log', async () => {
    const { api, office, workers } = await setUp();
    const { db } = api.deps;
    const email = 'late@example.org';
    const member = await api.given.person('member', { email, email_verified: true });
    office.recipient = () => ({ code: 450, message: 'busy' });
    expect((await api.anyone.requestPasswordReset({ body: { login: email } })).status).to.equal(202);
    const row = await eventually(
      () => db('email_messages').where({ account_id: member.accountId, attempts: 1, state: 'waiting' }).first(),
      20_000,
    );
    office.recipient = () => undefined;
    await workers.goOn(61 * 60_000);
    const after = await eventually(() => db('email_messages').where({ id: row.id, state: 'expired' }).first(), 20_000);
    expect([after.body, after.address]).to.deep.equal([null, 'l***@example.org']);
    expect(office.got).to.deep.equal([]);
    await db('email_messages')
      .where({ id: row.id })
      .update({ state: 'failed', body: 'x', address: email, expires_at: new Date() });
    const owner = await api.given.owner();
    const again = await api.as(owner).retryEmailMessage({ params: { id: row.id } });
    expect([again.status, (again.body as never as { error: { details: object } }).error.details]).to.deep.equal([
      409,
      { reason: 'expired' },
    ]);
    await trimMails(db, new Date(workers.now() + 8 * DAY_MS));
    const trimmed = await db('email_messages').where({ id: row.id }).first();
    expect([trimmed.body, trimmed.address]).to.deep.equal([null, 'l***@example.org']);
    await trimMails(db, new Date(workers.now() + 31 * DAY_MS));
    expect(await db('email_messages').where({ id: row.id })).to.deep.equal([]);
  });
});
