import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import { DeliveryWorkers } from '#support/deliveries.ts';
import type { Person } from '#support/given.ts';
import { certificate, PostOffice, tokenOf } from '#support/post.ts';
import { eventually } from '#support/stores.ts';

const MINUTE_MS = 60_000;

interface Row {
  id: string;
  state: string;
  attempts: number;
  body: string | null;
  address: string;
  message_id: string;
  error: { stage: string; code?: string } | null;
  next_attempt_at: Date | null;
}

const settingsFor = (port: number, more: object = {}) => ({
  'server.publicUrl': 'https://foyer.example',
  'server.name': 'Home',
  'email.enabled': true,
  'email.smtp.host': 'smtp.test',
  'email.smtp.port': port,
  'email.smtp.security': 'none',
  'email.from': 'Foyer <foyer@example.org>',
  ...more,
});

describe('mails on their way', () => {
  let api: Api;
  let office: PostOffice;
  let workers: DeliveryWorkers;
  let owner: Person;
  before(async () => {
    office = await PostOffice.start();
    api = await startApi({ FOYER_SETTINGS: JSON.stringify(settingsFor(office.port)) });
    workers = new DeliveryWorkers(api);
    await workers.start();
    owner = await api.given.owner();
  });
  beforeEach(() => {
    office.from = office.recipient = office.data = () => undefined;
    office.arrived = async () => undefined;
  });

  let number = 0;
  /** An invitation, and the address it goes to. */
  const invite = async (): Promise<string> => {
    number += 1;
    const email = `guest-${number}@example.org`;
    const answer = await api.as(owner).createInvite({ body: { email, role: 'member' } });
    expect(answer.status).to.equal(201);
    expect(answer.body.mailed).to.equal(true);
    return email;
  };
  const newest = async (): Promise<Row> => api.deps.db('email_messages').orderBy('id', 'desc').first<Row>();
  const reaches = (id: string, wanted: (row: Row) => boolean): Promise<Row> =>
    eventually(async () => {
      const row = await api.deps.db('email_messages').where({ id }).first<Row>();
      return wanted(row) && row;
    }, 20_000);

  it('keeps the body sealed until it went, then nothing but a masked line', async () => {
    let open = (): void => undefined;
    const gate = new Promise<void>((done) => {
      open = done;
    });
    office.arrived = () => gate;
    const email = await invite();
    const mail = await office.mailTo(email);
    const before = await newest();
    expect(before.state).to.equal('sending');
    expect(before.body).to.match(/^k1\./);
    expect(before.body).to.not.include(tokenOf(mail));
    open();
    const after = await reaches(before.id, ({ state }) => state === 'sent');
    expect(after.body).to.equal(null);
    expect(after.address).to.equal('g***@example.org');
    expect(mail.messageId).to.equal(after.message_id);
  });

  it('has HTML and text, the logo inside, and nothing from elsewhere', async () => {
    const mail = await office.mailTo(await invite());
    expect(mail.subject).to.include('invites you to Home');
    expect(mail.text).to.include('https://foyer.example/invite#code=');
    expect(mail.html).to.include('prefers-color-scheme: dark');
    expect(mail.html).to.not.match(/<script|@import|<link/i);
    const sources = [...(mail.html ?? '').matchAll(/(?:src|background)="([^"]+)"/g)].map(([, at]) => at);
    expect(sources).to.deep.equal(['cid:logo-light@foyer', 'cid:logo-dark@foyer']);
    expect(mail.attachments.map(({ mimeType, contentId }) => [mimeType, contentId])).to.deep.equal([
      ['image/png', '<logo-light@foyer>'],
      ['image/png', '<logo-dark@foyer>'],
    ]);
    expect(mail.headers.some(({ key }) => key === 'list-unsubscribe')).to.equal(false);
  });

  it('reads nothing that people wrote as a template, as HTML or as a header', async () => {
    const email = 'odd@example.org';
    const message = '<img src=x onerror=alert(1)> {{url}} {until}\r\nBcc: all@example.org';
    const answer = await api.as(owner).createInvite({ body: { email, role: 'member', message } });
    expect(answer.status).to.equal(201);
    const mail = await office.mailTo(email);
    expect(mail.html).to.include('&lt;img src=x onerror=alert(1)&gt; {{url}} {until}');
    expect(mail.html).to.not.include('<img src=x');
    expect(mail.bcc).to.equal(undefined);
    expect(mail.raw.split('\r\n\r\n')[0]).to.not.match(/^bcc:/im);
  });

  it('writes nothing that rolls back', async () => {
    const before = await api.deps.db('email_messages').count<{ count: number }[]>('* as count');
    const body = { email: 'never@example.org', role: 'admin', libraries: { mode: 'only', ids: ['no'] } };
    expect((await api.as(owner).createInvite({ body })).status).to.equal(400);
    const after = await api.deps.db('email_messages').count<{ count: number }[]>('* as count');
    expect(after).to.deep.equal(before);
  });

  it('tries six times, after 1 min, 5 min, 30 min, 2 h and 6 h, and once more on request', async () => {
    office.recipient = () => ({ code: 451, message: 'try later' });
    const email = await invite();
    let row = await newest();
    for (const [index, minutes] of [1, 5, 30, 120, 360].entries()) {
      row = await reaches(row.id, ({ attempts, state }) => attempts === index + 1 && state === 'waiting');
      const ahead = ((row.next_attempt_at?.getTime() ?? 0) - workers.now()) / MINUTE_MS;
      expect(ahead, `after attempt ${index + 1}`).to.be.within(minutes - 0.5, minutes);
      expect(row.error).to.deep.include({ stage: 'recipient', code: '451' });
      await workers.goOn(minutes * MINUTE_MS);
    }
    row = await reaches(row.id, ({ state }) => state === 'failed');
    expect(row.attempts).to.equal(6);
    expect(row.body).to.not.equal(null);
    expect(office.countTo(email)).to.equal(0);
    office.recipient = () => undefined;
    const retried = await api.as(owner).retryEmailMessage({ params: { id: row.id } });
    expect(retried.status).to.equal(202);
    await office.mailTo(email);
    const sent = await reaches(row.id, ({ state }) => state === 'sent');
    expect(sent.message_id).to.equal(row.message_id);
    const again = await api.as(owner).retryEmailMessage({ params: { id: row.id } });
    expect(again.status).to.equal(409);
    expect((again.body as never as { error: { details: object } }).error.details).to.deep.equal({
      reason: 'not-retryable',
      state: 'sent',
    });
  });

  it('ends at a 5xx for the recipient, and after three in a row sends the address nothing more', async () => {
    const email = 'gone@example.org';
    const send = async (state: string): Promise<Row> => {
      await api.as(owner).createInvite({ body: { email, role: 'member' } });
      return reaches((await newest()).id, (row) => row.state === state);
    };
    const message = '<GONE@example.org>: no such user';
    office.recipient = (address) => (address === email ? { code: 550, message } : undefined);
    expect((await send('failed')).attempts).to.equal(1);
    await send('failed');
    await send('suppressed');
    const answers = [await api.as(owner).listEmailMessages(), await api.as(owner).getEmailStatus()];
    expect(JSON.stringify(answers.map(({ body }) => body)))
      .to.include('<g***@example.org>: no such user')
      .and.not.match(/gone@/i);
    office.recipient = () => undefined;
    const kept = await send('suppressed');
    expect(kept.attempts).to.equal(0);
    expect((await api.as(owner).getEmailStatus()).body.suppressed).to.equal(1);
    expect((await api.as(owner).retryEmailMessage({ params: { id: kept.id } })).status).to.equal(202);
    await office.mailTo(email);
    expect((await api.as(owner).getEmailStatus()).body.suppressed).to.equal(0);
  });

  it('tries again after a cut connection, under the same Message-ID', async () => {
    office.data = () => 'cut';
    const email = await invite();
    const row = await newest();
    await reaches(row.id, ({ error, state }) => error?.stage === 'connect' && state === 'waiting');
    office.data = () => undefined;
    await workers.goOn(MINUTE_MS);
    expect((await office.mailTo(email)).messageId).to.equal(row.message_id);
  });

  it('repeats the mail of a killed worker with the same Message-ID', async () => {
    await workers.endAll();
    const child = await workers.start();
    office.arrived = async () => {
      office.arrived = async () => undefined;
      await workers.kill(child); // the mail is there, and no event announced it
    };
    const email = await invite();
    const row = await newest();
    await eventually(async () => office.countTo(email) === 1 && child.signalCode !== null, 20_000);
    expect((await reaches(row.id, () => true)).state).to.equal('sending');
    await workers.start();
    const after = await reaches(row.id, ({ state }) => state === 'sent');
    const ids = office.got.filter(({ to1 }) => to1 === email).map(({ messageId }) => messageId);
    expect(ids).to.deep.equal([row.message_id, row.message_id]);
    expect(after.attempts).to.equal(1);
  });

  it('pauses all sending after 20 connection faults in a row, notifies admins, and resumes after a good test', async () => {
    await api.deps.db('email_state').update({ faults: 19 });
    office.data = () => 'cut';
    await invite();
    const row = await newest();
    await reaches(row.id, ({ error }) => error !== null);
    const status = (await api.as(owner).getEmailStatus()).body;
    expect(status.paused).to.equal(true);
    expect(status.lastError).to.deep.include({ stage: 'connect' });
    const kinds = (await api.as(owner).listNotifications()).body.items.map(({ kind }) => kind);
    expect(kinds).to.include('email-failing');
    office.data = () => undefined;
    const held = await invite();
    const waiting = await newest();
    await reaches(waiting.id, ({ next_attempt_at: at }) => at !== null);
    expect(office.countTo(held)).to.equal(0);
    const test = await api.as(owner).sendTestEmail({ body: { to: 'admin@example.org' } });
    expect(test.body).to.deep.include({ ok: true });
    expect((await api.as(owner).getEmailStatus()).body.paused).to.equal(false);
    await workers.goOn(10 * MINUTE_MS);
    await office.mailTo(held);
  });
});

const atobOf = (word: string): string => Buffer.from(word, 'base64').toString();

describe('mail servers', () => {
  const { key, cert } = certificate();
  const cases: [name: string, options: object, settings: object, tls: boolean][] = [
    ['STARTTLS', { key, cert, disabledCommands: [] }, { 'email.smtp.security': 'starttls' }, true],
    ['implicit TLS', { key, cert, secure: true }, { 'email.smtp.security': 'tls' }, true],
    ['no TLS', {}, { 'email.smtp.security': 'none' }, false],
  ];
  let api: Api;
  before(async () => {
    api = await startApi();
    await new DeliveryWorkers(api).start({ TEST_CA: cert });
  });
  for (const [name, options, more, secure] of cases)
    for (const method of ['PLAIN', 'LOGIN'])
      it(`are reached by ${name} and AUTH ${method}, with settings that are not saved`, async () => {
        const allowed = { authMethods: [method], allowInsecureAuth: true, authOptional: false };
        const office = await PostOffice.start({ ...options, ...allowed });
        const settings = {
          'email.smtp.host': 'smtp.test',
          'email.smtp.port': office.port,
          'email.smtp.username': 'foyer',
          'email.smtp.password': 'right',
          'email.from': 'foyer@example.org',
          ...more,
        };
        const admin = await api.given.admin();
        const test = async () => (await api.as(admin).sendTestEmail({ body: { to: 'me@example.org', settings } })).body;
        const answer = await test();
        expect(answer, JSON.stringify(answer)).to.deep.include({ ok: true });
        const mail = await office.mailTo('me@example.org');
        expect([mail.secure, mail.user]).to.deep.equal([secure, 'foyer']);
        const wire = JSON.stringify(answer.transcript);
        expect(wire).to.include('RCPT TO');
        expect(wire).to.not.include(Buffer.from('right').toString('base64'));
        const client = answer.transcript.filter(({ stage }) => stage !== 'server').map(({ line }) => line);
        const lines = client.flatMap((line) => [line, ...line.split(' ').map((word) => atobOf(word))]);
        const naming = lines.filter((line) => /(^|["\0])foyer($|["\0 ])/.test(line));
        expect(naming, 'its user is a credential too').to.deep.equal([]);
        expect(wire).to.include('/* secret */');
        office.password = 'another';
        expect(await test()).to.deep.include({ ok: false, stage: 'auth', code: '535' });
        expect(JSON.stringify(await api.deps.db('jobs').pluck('payload'))).to.not.include('right');
      });
});
