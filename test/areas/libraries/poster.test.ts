import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { png } from '#support/pictures.ts';
import { errorOf, issueOf } from '#support/signing-in.ts';

describe('Libraries: the poster', () => {
  let api: Api;
  let admin: TestClient;
  let id: string;
  before(async () => {
    api = await startApi();
    admin = api.as(await api.given.owner());
  });
  beforeEach(async () => {
    id = (await admin.createLibrary({ body: { name: `L ${Math.random()}`, type: 'movies' } })).body.id;
  });
  const send = (fields: Record<string, string | Blob>, library = id, headers = {}) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    return admin.updateLibrary({ params: { id: library }, body, headers });
  };
  const picture = async (...size: Parameters<typeof png>) => new Blob([await png(...size)], { type: 'image/png' });
  const images = () => api.deps.db('images').where({ owner_id: id }).select('*');

  it('is a part of a form next to the same fields, kept as uploaded', async () => {
    const given = await png(200, 300);
    const answer = await send({
      poster: new Blob([given], { type: 'image/png' }),
      name: '42',
      settings: JSON.stringify({ trashKeepDays: 7 }),
      order: '3',
    });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    expect(answer.body).to.include({ name: '42', order: 3, revision: 2 });
    expect(answer.body.settings.trashKeepDays).to.equal(7);
    expect(answer.body.poster).to.include({ kind: 'poster', width: 200, height: 300, version: '1' });
    const [row] = await images();
    expect(row).to.include({ owner_kind: 'library', mime: 'image/png', source: 'upload', animated: false });
    expect(Buffer.compare(await buffer(await api.deps.objects.get('foyer-artwork', row.sha256)), given)).to.equal(0);
    expect((await admin.getLibrary({ params: { id } })).body.poster).to.deep.equal(answer.body.poster);
    const listed = (await admin.listLibraries()).body.find((one) => one.id === id);
    expect(listed?.poster).to.deep.equal(answer.body.poster);
  });

  it('replaces the former one; null is the mosaic again', async () => {
    const first = (await send({ poster: await picture(200, 300) })).body.poster;
    const second = (await send({ poster: await picture(210, 300) })).body.poster;
    expect(second?.id).to.not.equal(first?.id);
    expect((await images()).map((row: { id: string }) => row.id)).to.deep.equal([second?.id]);
    const cleared = await admin.updateLibrary({ params: { id }, body: { posterImageId: null } });
    expect(cleared.body.poster).to.equal(null);
    expect(await images()).to.deep.equal([]);
  });

  it('is the image of another library too, by its id, unless the caller does not see that', async () => {
    const { poster } = (await send({ poster: await picture(200, 300) })).body;
    const other = (await admin.createLibrary({ body: { name: `O ${Math.random()}`, type: 'shows' } })).body.id;
    const shown = await admin.updateLibrary({ params: { id: other }, body: { posterImageId: poster?.id } });
    expect(shown.body.poster).to.deep.equal(poster);
    await send({ poster: await picture(100, 100) });
    expect((await admin.getLibrary({ params: { id: other } })).body.poster, 'shown elsewhere').to.deep.equal(poster);
    const absent = ABSENT;
    expect(issueOf(await admin.updateLibrary({ params: { id }, body: { posterImageId: absent } }))).to.equal(
      'unknown_image',
    );
    const avatar = {
      ...(await api.deps.db('images').where({ id: poster?.id }).first()),
      id: absent,
      owner_kind: 'profile',
    };
    await api.deps.db('images').insert(avatar);
    expect(issueOf(await admin.updateLibrary({ params: { id }, body: { posterImageId: absent } }))).to.equal(
      'unknown_image',
    );
    expect(issueOf(await send({ poster: await picture(100, 100), posterImageId: absent }))).to.equal('both');
  });

  it('is rejected for an invalid picture, and no part of the request is applied', async () => {
    const svg = new Blob(['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect/></svg>'], {
      type: 'image/svg+xml',
    });
    const refused = await send({ poster: svg, name: 'No' });
    expect([refused.status, errorOf(refused).code]).to.deep.equal([415, 'MEDIA_UNSUPPORTED_CODEC']);
    const broken = await send({ poster: new Blob([(await png(300, 300)).subarray(0, 200)]), name: 'No' });
    expect(issueOf(broken)).to.equal('not_an_image');
    expect(issueOf(await send({ poster: await picture(47, 300), name: 'No' }))).to.equal('image_too_small');
    const stale = await send({ poster: await picture(100, 100), name: 'No' }, id, { 'if-match': '"9"' });
    expect(errorOf(stale).details.reason).to.equal('revision');
    const bad = await send({ poster: await picture(100, 100), name: '' });
    expect(bad.status).to.equal(400);
    const absent = await send({ poster: await picture(100, 100) }, ABSENT);
    expect(absent.status).to.equal(404);
    expect((await admin.updateLibrary({ params: { id }, body: { poster: { bytes: 'x' } } })).status).to.equal(400);
    const now = (await admin.getLibrary({ params: { id } })).body;
    expect([now.revision, now.name === 'No', now.poster]).to.deep.equal([1, false, null]);
    expect(await images()).to.deep.equal([]);
  });
});
