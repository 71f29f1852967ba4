import { hash } from '@node-rs/argon2';
import { expect } from 'chai';
import { insertAccount } from '#areas/accounts/public.ts';
import { hashPassword } from '#areas/auth/public.ts';
import { startApi } from '#support/api.ts';

const PASSWORD = 'correct horse battery';

describe('hashes of passwords', () => {
  it('are argon2id of 19 MiB, 2 passes and 1 lane, each with a salt of its own', async () => {
    const [one, two] = await Promise.all([hashPassword(PASSWORD), hashPassword(PASSWORD)]);
    expect(one).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$/);
    expect(one).to.not.equal(two);
  });

  it('are made again at the next sign-in when their cost was lower, and never by a wrong password', async () => {
    const api = await startApi();
    const weak = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
    const { id } = await insertAccount(api.deps.db, { username: 'Old', role: 'member', passwordHash: weak });
    const kept = async () =>
      (await api.deps.db('accounts').where({ id }).first<{ password_hash: string }>()).password_hash;
    const signIn = (password: string) => api.anyone.login({ body: { username: 'Old', password } });
    expect((await signIn('another one')).status).to.equal(401);
    expect(await kept()).to.equal(weak);
    expect((await signIn(PASSWORD)).status).to.equal(200);
    const renewed = await kept();
    expect(renewed).to.contain('m=19456,t=2');
    expect((await signIn(PASSWORD)).status).to.equal(200);
    expect(await kept()).to.equal(renewed);
  });

  it('are made four at a time, with fifty waiting; later callers receive a time to come back', async () => {
    const all = await Promise.allSettled(Array.from({ length: 60 }, () => hashPassword(PASSWORD)));
    const refused = all.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as { code: string; details: object }] : [],
    );
    expect(refused).to.have.length(6);
    expect(refused[0]).to.deep.include({ code: 'SERVICE_STARTING', details: { waitingFor: 'capacity' } });
  });
});
