import { expect } from 'chai';
import { createAccount } from '#areas/accounts/public.ts';
import { hashPassword } from '#areas/auth/public.ts';
import { createLog } from '#platform/log.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { fanOut } from '#workers/notifications/fanout.ts';
import type { Work } from '#workers/work.ts';

describe('causes of notifications', () => {
  let api: Api;
  let owner: Person;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
  });
  const kinds = async (person: Person) => (await api.as(person).listNotifications()).body.items.map(({ kind }) => kind);

  it('notifies an account of a sign-in on another device, not of its first and not twice of one', async () => {
    const username = 'newcomer';
    const account = await createAccount(api.deps.db, {
      username,
      role: 'member',
      passwordHash: await hashPassword('a long password 1'),
    });
    const signIn = async (device: string) =>
      api.anyone.login({
        body: { username, password: 'a long password 1' },
        headers: { 'x-client-id': device, 'x-client-name': device },
      });
    const notices = () =>
      api.deps
        .db('notifications as n')
        .join('profiles as p', 'p.id', 'n.profile_id')
        .where('p.account_id', account.id)
        .select('n.kind', 'n.data');
    expect((await signIn('first-device-of-newcomer')).status).to.equal(200);
    expect(await notices()).to.deep.equal([]);
    await signIn('second-device-of-newcomer');
    await signIn('second-device-of-newcomer');
    const rows = await notices();
    expect(rows.map(({ kind, data }) => [kind, data.name])).to.deep.equal([
      ['sign-in-new-device', 'second-device-of-newcomer'],
    ]);
  });

  it('notifies the holder of a key that someone else revoked it, and no one of their own revocation', async () => {
    const member = await api.given.member();
    const make = async () =>
      (await api.as(member).createApiKey({ body: { name: 'script', scopes: ['library:view'], expiresAt: null } })).body
        .id;
    await api.as(member).revokeApiKey({ params: { id: await make() } });
    expect(await kinds(member)).to.deep.equal([]);
    await api.as(owner).revokeApiKey({ params: { id: await make() } });
    expect(await kinds(member)).to.deep.equal(['api-key-changed']);
  });

  it('notifies the holder of keys that end or lose scopes by a new role or a reset, and writes each to the audit log', async () => {
    const admin = await api.given.admin();
    const make = async (name: string, scopes: string[]) =>
      (await api.as(admin).createApiKey({ body: { name, scopes, expiresAt: null } })).body.id;
    const [wide, gone] = [await make('wide', ['library:view', 'item:edit']), await make('gone', ['item:edit'])];
    const written = async (action: string) =>
      (await api.deps.db('audit_log').where({ action, account_id: owner.accountId }).orderBy('id')).map(
        ({ details }: { details: object }) => details,
      );
    await api.as(owner).updateUser({ params: { id: admin.accountId }, body: { role: 'member' } });
    expect(await kinds(admin)).to.deep.equal(['api-key-changed']);
    expect(await written('api-key.changed')).to.deep.include({
      ...{ keyId: wide, before: ['library:view', 'item:edit'], after: ['library:view'] },
    });
    expect(await written('api-key.revoked')).to.deep.include({ keyId: gone, scopes: ['item:edit'] });
    const again = await api.given.again(admin);
    const reset = { link: false, endSessions: false, revokeKeys: true };
    expect((await api.as(owner).resetUserSignIn({ params: { id: admin.accountId }, body: reset })).body).to.include({
      revokedKeys: 1,
    });
    expect(await kinds(again)).to.include('api-key-changed');
    expect(await written('api-key.revoked')).to.deep.include({ keyId: wide, scopes: ['library:view'] });
  });

  it('writes to many by the job, in batches that continue after a kill, each receiver once', async () => {
    await api.deps.db.raw(
      `insert into accounts (id, username, username_folded, display_name, role)
       select gen_random_uuid(), 'many-' || n, 'many-' || n, 'Many', 'admin' from generate_series(1, 1100) n`,
    );
    await api.deps.db.raw(
      `insert into profiles (id, account_id, name, main) select gen_random_uuid(), id, 'main', true from accounts where username like 'many-%'`,
    );
    const notice = { kind: 'disk-low', data: { name: 'films' } };
    let batches = 0;
    const work = (checkpoint: unknown, dieAfter: number): Work & { kept: unknown } => {
      const self = {
        db: api.deps.db,
        log: createLog('silent', 'test'),
        signal: new AbortController().signal,
        checkpoint,
        kept: undefined as unknown,
        keep: async (_db: unknown, kept: unknown) => {
          batches += 1;
          if (batches > dieAfter) throw new Error('killed');
          self.kept = kept;
        },
      };
      return self as unknown as Work & { kept: unknown };
    };
    const first = work(null, 1);
    await fanOut({ notice }, first).catch(() => undefined);
    await fanOut({ notice }, work(first.kept, 99));
    const { rows } = await api.deps.db.raw(
      `select count(*)::int as n, count(distinct profile_id)::int as people, max(count) as most from notifications where kind = 'disk-low'`,
    );
    expect(rows[0].n).to.be.at.least(1101).and.equal(rows[0].people);
    expect(rows[0].most).to.equal(1);
  }).timeout(120_000);
});
