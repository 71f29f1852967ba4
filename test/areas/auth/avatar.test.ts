import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import sharp from 'sharp';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { factsOf, gif, png } from '#support/pictures.ts';
import { errorOf, issueOf, somebody, withToken } from '#support/signing-in.ts';

describe('Auth: setProfileAvatar', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb();
  });
  const put = (me: TestClient, id: string, ...[body, type = 'image/png']: [Buffer, string?]) =>
    me.setProfileAvatar({ params: { id }, body, headers: { 'content-type': type } });
  const mainOf = async (me: TestClient): Promise<string> =>
    (await me.getMe()).body.profiles.find(({ main }) => main)?.id ?? '';
  const profile = async (me: TestClient): Promise<string> =>
    (await me.createProfile({ body: { name: `Viewer ${Math.random()}` } })).body.id;
  const imageOf = (id: string | undefined) => api.deps.db('images').where({ id }).first();

  it('keeps it as WebP of 512 by 512, cropped about the centre, without metadata; of main it is the account’s', async () => {
    const { me } = await somebody(api);
    const id = await mainOf(me);
    const given = await sharp(await png(900, 300))
      .withExif({ IFD0: { ImageDescription: 'SECRET-PLACE' } })
      .png()
      .toBuffer();
    const made = await put(me, id, given);
    expect(made.status, JSON.stringify(made.body)).to.equal(200);
    expect(made.body.avatar).to.include({ kind: 'avatar', width: 512, height: 512, version: '1' });
    expect(made.body.avatar?.blurhash).to.have.length(28);
    const row = await imageOf(made.body.avatar?.id);
    expect(row).to.include({ owner_kind: 'profile', owner_id: id, mime: 'image/webp', source: 'upload' });
    const kept = await buffer(await api.deps.objects.get('foyer-artwork', row.sha256));
    expect(await factsOf(kept)).to.include({ format: 'webp', width: 512, height: 512 });
    expect(kept.includes('SECRET-PLACE')).to.equal(false);
    const now = (await me.getMe()).body;
    expect(now.account.avatar).to.deep.equal(made.body.avatar);
    expect(now.profile.avatar).to.deep.equal(made.body.avatar);
    const second = await put(me, id, await png(100, 100, '#00ff00'));
    expect(second.body.avatar?.id).to.not.equal(made.body.avatar?.id);
    expect(await imageOf(made.body.avatar?.id), 'the former one is gone').to.equal(undefined);
    const cleared = await me.updateProfile({ params: { id }, body: { avatar: null } });
    expect(cleared.body.avatar).to.equal(null);
    expect((await me.getMe()).body.account.avatar).to.equal(null);
    expect(await imageOf(second.body.avatar?.id)).to.equal(undefined);
  });

  it('accepts JPEG, PNG, WebP, AVIF and the first frame of GIF; returns 415 for others, 400 for an unreadable file, 413 over 8 MiB', async () => {
    const { me } = await somebody(api);
    const id = await mainOf(me);
    const base = sharp(await png(64, 64));
    for (const kind of ['jpeg', 'webp', 'avif'] as const)
      expect((await put(me, id, await base.clone()[kind]().toBuffer())).status, kind).to.equal(200);
    const moving = await put(me, id, await gif(5), 'image/gif');
    const row = await imageOf(moving.body.avatar?.id);
    expect(row.animated).to.equal(false);
    const svg = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>',
    );
    for (const [bytes, type] of [
      [svg, 'image/svg+xml'],
      [svg, 'image/png'],
      [Buffer.from('just text, no more'), 'text/plain'],
    ] as const) {
      const refused = await put(me, id, bytes, type);
      expect([refused.status, errorOf(refused).code], type).to.deep.equal([415, 'MEDIA_UNSUPPORTED_CODEC']);
    }
    const whole = await base.clone().resize(400, 400).jpeg().toBuffer();
    expect(issueOf(await put(me, id, whole.subarray(0, whole.length / 2)))).to.equal('not_an_image');
    const large = await put(me, id, Buffer.alloc((8 << 20) + 1));
    expect([large.status, errorOf(large).details.maxBytes]).to.deep.equal([413, 8 << 20]);
    expect((await put(me, id, Buffer.alloc(0))).status).to.equal(400);
  });

  it('is for the own account, in another profile for that alone, and for children and guests whose accounts one manages', async () => {
    const one = await somebody(api);
    const own = await profile(one.me);
    expect((await put(one.me, own, await png())).status).to.equal(200);
    const main = await mainOf(one.me);
    const entered = await one.me.selectProfile({ params: { id: own } });
    const kid = withToken(api, entered.body.accessToken);
    expect((await put(kid, own, await png())).status).to.equal(200);
    expect(errorOf(await put(kid, main, await png())).details.by).to.equal('profile');
    const admin = await somebody(api, 'admin');
    const child = await somebody(api, 'child');
    const childs = await mainOf(child.me);
    expect((await put(child.me, childs, await png())).status).to.equal(200);
    expect((await put(kid, childs, await png())).status).to.equal(404);
    expect((await put(admin.me, childs, await png())).body.id).to.equal(childs);
    const mains = await mainOf((await somebody(api)).me);
    expect(errorOf(await put(admin.me, mains, await png())).details.by).to.equal('role');
  });

  it('goes with its profile', async () => {
    const { me } = await somebody(api);
    const id = await profile(me);
    const { avatar } = (await put(me, id, await png())).body;
    expect((await me.deleteProfile({ params: { id } })).status).to.equal(204);
    expect(await imageOf(avatar?.id)).to.equal(undefined);
  });

  it('reports that the object store is unavailable', async () => {
    const { me } = await somebody(api);
    const { objects } = api.deps;
    const real = objects.put.bind(objects);
    objects.put = () => Promise.reject(new Error('away'));
    const answer = await put(me, await mainOf(me), await png());
    objects.put = real;
    expect([answer.status, errorOf(answer).details.waitingFor]).to.deep.equal([503, 'objects']);
  });
});
