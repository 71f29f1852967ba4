import { expect } from 'chai';
import type { Call } from '#kernel/endpoint.ts';
import { once } from '#kernel/idempotency.ts';
import { connectDatabase, type Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { createLog } from '#platform/log.ts';
import { type Api, startApi } from '#support/api.ts';
import { atEnd, newDatabase } from '#support/stores.ts';

describe('Idempotency-Key', () => {
  let db: Db;
  before(async () => {
    db = connectDatabase(await newDatabase(), createLog('silent', 'test'), { max: 8 });
    atEnd(() => db.destroy());
  });

  interface Attempt {
    accountId?: string;
    operation?: string;
    key?: string;
    content?: unknown;
  }
  const account = newId();
  /** One request: its answer, its status and whether the work was done. */
  const send = (work: () => Promise<unknown>, input: Attempt = {}): Promise<{ answer: unknown; status: number }> =>
    db.transaction(async (transaction) => {
      let status = 201;
      const reply = {
        status: (code: number) => {
          status = code;
        },
      };
      const call = { db: transaction, who: { accountId: input.accountId ?? account }, reply } as unknown as Call;
      const { operation = 'createThing', key = 'k', content = { body: { name: 'a' } } } = input;
      return { answer: await once(call, { operation, key, content }, work), status };
    });
  const reasonOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: { details?: { reason?: string } }) => error.details?.reason ?? 'other',
    );

  it('gives a repeat the record of the first call, with 200', async () => {
    let made = 0;
    const make = async () => {
      made += 1;
      return { id: made };
    };
    expect(await send(make, { key: 'repeat' })).to.deep.equal({ answer: { id: 1 }, status: 201 });
    expect(await send(make, { key: 'repeat' })).to.deep.equal({ answer: { id: 1 }, status: 200 });
    expect(made).to.equal(1);
  });

  it('belongs to its account and operation', async () => {
    let made = 0;
    const make = async () => {
      made += 1;
      return made;
    };
    await send(make, { key: 'own' });
    await send(make, { key: 'own', accountId: newId() });
    await send(make, { key: 'own', operation: 'createOther' });
    expect(made).to.equal(3);
  });

  it('is refused for other content', async () => {
    await send(async () => 1, { key: 'content' });
    const other = send(async () => 2, { key: 'content', content: { body: { name: 'b' } } });
    expect(await reasonOf(other)).to.equal('key-reused');
  });

  it('reports that the first still runs, and runs it once', async () => {
    let made = 0;
    const make = async () => {
      made += 1;
      return made;
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const slow = send(
      async () => {
        began.resolve();
        await promise;
        return make();
      },
      { key: 'slow' },
    );
    await began.promise;
    expect(await reasonOf(send(make, { key: 'slow' }))).to.equal('in-progress');
    resolve();
    await slow;
    expect(await send(make, { key: 'slow' })).to.deep.equal({ answer: 1, status: 200 });
  });

  it('is free again when the first call failed, or 24 hours have gone by', async () => {
    const fails = send(
      async () => {
        throw new Error('no');
      },
      { key: 'fails' },
    );
    expect(await reasonOf(fails)).to.equal('other');
    expect((await send(async () => 'made', { key: 'fails' })).status).to.equal(201);
    const back = (interval: string) =>
      db('idempotency_keys')
        .where({ key: 'fails' })
        .update({ created_at: db.raw(`now() - interval '${interval}'`) });
    await back('23 hours 59 minutes');
    expect((await send(async () => 'again', { key: 'fails' })).answer).to.equal('made');
    await back('24 hours 1 minute');
    const other = { key: 'fails', content: 'other content' };
    expect(await send(async () => 'again', other)).to.deep.equal({ answer: 'again', status: 201 });
    expect((await send(async () => 'third', other)).answer).to.equal('again');
  });

  describe('over HTTP', () => {
    let api: Api;
    before(async () => {
      api = await startApi();
    });

    it('makes one of many at once', async () => {
      const admin = api.as(await api.given.admin());
      const input = { body: { name: 'Once', type: 'movies' }, headers: { 'idempotency-key': 'one.two-3_' } };
      const answers = await Promise.all(Array.from({ length: 8 }, () => admin.createLibrary(input)));
      const statuses = answers.map((answer) => answer.status);
      expect(statuses.filter((status) => status === 201)).to.have.length(1);
      for (const status of statuses) expect(status).to.be.oneOf([200, 201, 409]);
      expect(await api.deps.db('libraries').where({ name: 'Once' })).to.have.length(1);
      const made = answers.find((answer) => answer.status === 201);
      const repeat = await admin.createLibrary(input);
      expect([repeat.status, repeat.body.id]).to.deep.equal([200, made?.body.id]);
    });

    it('of another shape is refused', async () => {
      const admin = api.as(await api.given.admin());
      for (const key of ['a b', 'x'.repeat(65), '']) {
        const headers = { 'idempotency-key': key };
        expect(
          (await admin.createLibrary({ body: { name: `Key ${key.length}`, type: 'movies' }, headers })).status,
        ).to.equal(400);
      }
    });
  });
});
