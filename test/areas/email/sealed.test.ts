import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import { DeliveryWorkers } from '#support/deliveries.ts';
import type { Person } from '#support/given.ts';
import { PostOffice, tokenOf } from '#support/post.ts';
import { eventually } from '#support/stores.ts';

interface Row {
  id: string;
  state: string;
  body: string;
}

describe('mails whose sealing key is gone', () => {
  let api: Api;
  let office: PostOffice;
  let owner: Person;
  before(async () => {
    office = await PostOffice.start();
    const declared = {
      'server.publicUrl': 'https://foyer.example',
      'email.enabled': true,
      'email.smtp.host': 'smtp.test',
      'email.smtp.port': office.port,
      'email.smtp.security': 'none',
      'email.from': 'foyer@example.org',
    };
    api = await startApi({ FOYER_SETTINGS: JSON.stringify(declared) });
    owner = await api.given.owner();
  });

  it('are kept, give the reason in the list and in the status, and go once the key is back', async () => {
    const { db } = api.deps;
    const email = 'guest@example.org';
    expect((await api.as(owner).createInvite({ body: { email, role: 'member' } })).body.mailed).to.equal(true);
    const { id, body } = await db('email_messages').first<Row>();
    const sealedBy = (kid: string) =>
      db('email_messages')
        .where({ id })
        .update({ body: `${kid}${body.slice(body.indexOf('.'))}` });
    await sealedBy('gone');
    const workers = new DeliveryWorkers(api);
    await workers.start();
    const tried = (attempts: number) =>
      eventually(async () => {
        const [one] = (await api.as(owner).listEmailMessages({})).body.items;
        return one?.attempts === attempts && one.state !== 'sending' && one;
      }, 20_000);
    const first = await tried(1);
    expect(first.state).to.equal('waiting');
    expect(first.error).to.deep.include({ stage: 'data', code: 'SealedKeyMismatch' });
    const status = (await api.as(owner).getEmailStatus({})).body;
    expect(status.lastError).to.include({ code: 'SealedKeyMismatch' });
    for (const [index, minutes] of [1, 5, 30, 120, 360].entries()) {
      await workers.goOn(minutes * 60_000);
      await tried(index + 2);
    }
    expect((await tried(6)).state).to.equal('failed');
    expect(office.got).to.deep.equal([]);
    await sealedBy('k1');
    expect((await api.as(owner).retryEmailMessage({ params: { id } })).status).to.equal(202);
    expect(tokenOf(await office.mailTo(email))).to.match(/^\S{20,}$/);
  });
});
