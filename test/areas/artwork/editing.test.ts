import { expect } from 'chai';
import sharp from 'sharp';
import { ABSENT } from '#support/answers.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { errorOf, issueOf } from '#support/signing-in.ts';
import { formOf, type Gallery, openGallery, painted } from './support.ts';

describe('Artwork: choosing and adding', function () {
  this.timeout(60_000);
  let gallery: Gallery;
  before(async () => {
    gallery = await openGallery();
  });
  const upload = (itemId: string, body: FormData, client = gallery.admin) =>
    client.uploadItemArtwork({ params: { id: itemId }, body });
  const artworkOf = async (id: string) => (await gallery.member.getItem({ params: { id } })).body.artwork;
  const kindsOf = async (id: string) => (await gallery.admin.listItemArtwork({ params: { id } })).body.kinds;
  const events = async (itemId: string) =>
    (await gallery.api.deps.db('outbox').where({ event: 'item.updated' }))
      .concat(await gallery.api.deps.db('events').where({ event: 'item.updated' }))
      .filter(({ payload }: { payload: { itemId: string } }) => payload.itemId === itemId);

  it('adds an uploaded picture, shows it in lists and announces it; the same bytes are the same image', async () => {
    const id = await gallery.film();
    const bytes = await painted(600, 900, '#c04020');
    const added = await upload(id, formOf({ bytes, language: 'en' }));
    expect(added.status).to.equal(201);
    expect(added.body).to.deep.include({
      ...{ kind: 'poster', width: 600, height: 900, source: 'upload', language: 'en', mime: 'image/jpeg' },
      ...{ selected: true, position: 0, locked: false, animated: false, owner: { kind: 'item', id } },
    });
    expect(added.body.addedBy).to.match(/^[0-9a-f-]{36}$/);
    const { id: image, kind, width, height, blurhash, version } = added.body;
    expect((await artworkOf(id)).poster).to.deep.equal({ id: image, kind, width, height, blurhash, version });
    const again = await upload(id, formOf({ bytes }));
    expect([again.status, again.body.id]).to.deep.equal([200, image]);
    expect(await gallery.api.deps.db('images').where({ owner_id: id }).pluck('id')).to.deep.equal([image]);
    const unselected = await upload(id, formOf({ bytes: await painted(700, 1050, '#2040c0'), select: 'false' }));
    expect(unselected.body.selected).to.equal(false);
    expect((await artworkOf(id)).poster?.id).to.equal(image);
    expect((await events(id))[0]?.payload).to.deep.include({ changed: ['artwork'] });
  });

  it('repeats an upload with its Idempotency-Key and refuses the key for other bytes', async () => {
    const id = await gallery.film();
    const send = async (colour: string) =>
      gallery.admin.uploadItemArtwork({
        params: { id },
        body: formOf({ bytes: await painted(300, 450, colour) }),
        headers: { 'idempotency-key': `key-${id}` },
      });
    const first = await send('#ff0000');
    const repeat = await send('#ff0000');
    expect([first.status, repeat.status, repeat.body.id]).to.deep.equal([201, 200, first.body.id]);
    expect(errorOf(await send('#00ff00')).details.reason).to.equal('key-reused');
  });

  it('refuses a kind of another type, small pictures, other files, SVG, and more than 25 MiB', async () => {
    const id = await gallery.film();
    const bytes = await painted(600, 900, '#c04020');
    expect(issueOf(await upload(id, formOf({ kind: 'still', bytes })))).to.equal('kind_not_fitting');
    expect(issueOf(await upload(id, formOf({ bytes: await painted(47, 900, '#c04020') })))).to.equal('image_too_small');
    expect(issueOf(await upload(id, formOf({ bytes: Buffer.from('not a picture at all') })))).to.equal('not_an_image');
    expect(issueOf(await upload(id, formOf({ bytes: bytes.subarray(0, 900) })))).to.equal('not_an_image');
    const svg = await upload(id, formOf({ bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>') }));
    expect([svg.status, errorOf(svg).code]).to.deep.equal([415, 'MEDIA_UNSUPPORTED_CODEC']);
    const large = await upload(id, formOf({ bytes: Buffer.alloc((25 << 20) + 1, 1) }));
    expect([large.status, errorOf(large).details.maxBytes]).to.deep.equal([413, 25 << 20]);
    expect((await upload(id, formOf({ bytes }), gallery.member)).status).to.equal(403);
    expect(await gallery.api.deps.db('images').where({ owner_id: id })).to.deep.equal([]);
  });

  it('keeps a choice until it is reset; empty and locked shows none', async () => {
    const id = await gallery.film();
    const first = await gallery.upload(id, { kind: 'backdrop', bytes: await painted(640, 360, '#c04020') });
    const second = await gallery.upload(id, { kind: 'backdrop', bytes: await painted(800, 450, '#20c040') });
    const put = (imageIds: string[], kind = 'backdrop', lock = true) =>
      gallery.admin.setItemArtwork({ params: { id, kind }, body: { imageIds, lock } });
    const set = await put([first.id, second.id]);
    expect(set.body.kinds.backdrop).to.deep.include({ selected: [first.id, second.id], locked: true });
    expect((await artworkOf(id)).backdrop?.id).to.equal(first.id);
    expect(issueOf(await put([first.id, second.id], 'poster'))).to.equal('too_big');
    expect(issueOf(await put([ABSENT]))).to.equal('unknown_image');
    const other = await gallery.upload(await gallery.film());
    expect(issueOf(await put([other.id], 'poster'))).to.equal('unknown_image');
    expect((await put([])).body.kinds.backdrop).to.deep.include({ selected: [], locked: true });
    expect((await artworkOf(id)).backdrop).to.equal(undefined);
    const reset = () => gallery.admin.resetItemArtwork({ params: { id, kind: 'backdrop' } });
    expect([(await reset()).status, (await reset()).status]).to.deep.equal([204, 204]);
    expect((await kindsOf(id)).backdrop?.selected).to.have.length(2);
    const job = await gallery.api.deps.db('jobs').where({ kind: 'artwork.fetch' }).first();
    expect(job?.library_id).to.equal(gallery.library.id);
    await gallery.admin.resetItemArtwork({ params: { id, kind: 'backdrop' }, query: { discard: true } });
    expect((await kindsOf(id)).backdrop?.images).to.deep.equal([]);
  });

  it('shows the images of the show for an episode, and lets a season use the still of an episode', async () => {
    const { db } = gallery.api.deps;
    const show = await givenItem(db, gallery.library, { type: 'show', title: 'Dark' });
    const season = await givenItem(db, gallery.library, { type: 'season', title: 'Season 1', parent_id: show });
    const parents = { parent_id: season, grandparent_id: show };
    const episode = await givenItem(db, gallery.library, { type: 'episode', title: 'One', ...parents });
    const poster = await gallery.upload(show);
    const still = await gallery.upload(episode, { kind: 'still', bytes: await painted(640, 360, '#2040c0') });
    expect((await artworkOf(season)).poster?.id, 'of the show').to.equal(poster.id);
    expect((await artworkOf(episode)).thumb).to.deep.include({ id: still.id, kind: 'still' });
    const listed = (await gallery.member.listItemArtwork({ params: { id: season }, query: { kind: 'poster' } })).body;
    expect(listed.kinds.poster?.images[0]?.owner).to.deep.equal({ kind: 'item', id: show });
    const set = await gallery.admin.setItemArtwork({
      params: { id: season, kind: 'poster' },
      body: { imageIds: [still.id] },
    });
    expect(set.status).to.equal(200);
    expect((await artworkOf(season)).poster?.id).to.equal(still.id);
    const inUse = await gallery.admin.deleteImage({ params: { id: still.id } });
    expect(errorOf(inUse).details).to.deep.include({ reason: 'in-use' });
    expect(errorOf(inUse).details.usedBy).to.deep.equal([{ kind: 'item', id: season, title: 'Season 1' }]);
    const info = (await gallery.admin.getImageInfo({ params: { id: still.id } })).body;
    expect(info.usedBy?.map(({ title }) => title)).to.have.members(['One', 'Season 1']);
    expect((await gallery.member.getImageInfo({ params: { id: still.id } })).body).to.not.have.any.keys(
      'usedBy',
      'addedBy',
    );
  });

  it('deletes an image and shows the next one; a local one is only hidden', async () => {
    const id = await gallery.film();
    const first = await gallery.upload(id, { bytes: await painted(600, 900, '#c04020') });
    const second = await gallery.upload(id, { bytes: await painted(610, 915, '#20c040') });
    const { db } = gallery.api.deps;
    expect((await gallery.admin.deleteImage({ params: { id: second.id } })).status).to.equal(204);
    expect((await artworkOf(id)).poster?.id).to.equal(first.id);
    expect(await db('images').where({ id: second.id })).to.deep.equal([]);
    await db('images').where({ id: first.id }).update({ source: 'local' });
    await gallery.admin.deleteImage({ params: { id: first.id } });
    expect((await artworkOf(id)).poster).to.equal(undefined);
    expect(await db('images').where({ id: first.id, discarded: true })).to.have.length(1);
    expect((await gallery.admin.getImage({ params: { id: first.id } })).status).to.equal(404);
    expect((await gallery.admin.deleteImage({ params: { id: first.id } })).status).to.equal(404);
  });

  it('keeps at most 50 images of a kind', async () => {
    const id = await gallery.film();
    const { id: image } = await gallery.upload(id);
    const { db } = gallery.api.deps;
    await db.raw(
      `insert into images (id, kind, owner_kind, owner_id, source, sha256, mime, size_bytes, width, height, blurhash, dominant)
       select gen_random_uuid(), kind, owner_kind, owner_id, source, n::text, mime, size_bytes, width, height, blurhash, dominant
       from images, generate_series(1, 49) n where id = ?`,
      [image],
    );
    const full = await upload(id, formOf({ bytes: await painted(620, 930, '#2040c0') }));
    expect([full.status, errorOf(full).details.reason]).to.deep.equal([409, 'image-limit']);
  });

  it('answers for an item by a stable address, with the parent or a tile with the title instead', async () => {
    const { db } = gallery.api.deps;
    const show = await givenItem(db, gallery.library, { type: 'show', title: 'Fallbacks' });
    const season = await givenItem(db, gallery.library, { type: 'season', parent_id: show, title: 'Season <1> & 2' });
    const get = (id: string, query: Record<string, string | number> = {}, headers = {}) =>
      gallery.member.getItemArtwork({ params: { id, kind: 'poster' }, query, headers });
    expect((await get(season)).status).to.equal(404);
    const tile = await get(season, { fallback: 'generated', width: 240 });
    expect(tile.headers.get('content-type')).to.equal('image/webp');
    expect(await sharp(tile.body as never).metadata()).to.include({ width: 240, height: 360 });
    const { id } = await gallery.upload(show);
    expect((await get(season, { fallback: 'none' })).status).to.equal(404);
    const parents = await get(season, { width: 160, format: 'png' });
    expect(parents.headers.get('cache-control')).to.equal('private, no-cache');
    const direct = await gallery.member.getImage({ params: { id }, query: { width: 160, format: 'png' } });
    expect(Buffer.compare(parents.body as never, direct.body as never)).to.equal(0);
    const same = await get(season, { width: 160, format: 'png' }, { 'if-none-match': parents.headers.get('etag') });
    expect(same.status).to.equal(304);
  });

  it('finds no candidates without an identity, and no agent for those that have one', async () => {
    const unknown = await gallery.film();
    const { db } = gallery.api.deps;
    const local = await givenLibrary(db, 'movies', { everyone: true, settings: JSON.stringify({ agents: ['files'] }) });
    const known = await givenItem(db, local, { external_ids: { tmdb: '949' } });
    const search = (id: string) => gallery.admin.searchItemArtwork({ params: { id } });
    expect(errorOf(await search(unknown)).details.reason).to.equal('not-matched');
    const none = await search(known);
    expect([none.status, errorOf(none).code]).to.deep.equal([502, 'PROVIDER_UNAVAILABLE']);
    const body = { kind: 'poster', candidateId: 'expired' };
    expect((await gallery.admin.importItemArtwork({ params: { id: known }, body })).status).to.equal(404);
    for (let n = 0; n < 18; n += 1) await search(known);
    expect((await search(known)).status).to.equal(429);
  });

  it('gives portraits to people, whom only those see who see one of their films', async () => {
    const { db } = gallery.api.deps;
    const film = await gallery.film({ age_years: 18 });
    const id = ABSENT.replace(/.$/, '7');
    await db('people').insert({ id, name: 'Ada', name_folded: 'ada' });
    await db('credits').insert({ id, item_id: film, person_id: id, role: 'actor', position: 0 });
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(await painted(400, 600, '#c04020'))]));
    const added = await gallery.admin.uploadPersonPortrait({ params: { id }, body });
    expect(added.status, JSON.stringify(added.body)).to.equal(201);
    expect(added.body).to.deep.include({
      kind: 'portrait',
      focus: { x: 0.5, y: 1 / 3 },
      owner: { kind: 'person', id },
    });
    const people = (await gallery.member.listItemPeople({ params: { id: film } })).body.items;
    expect(people[0]?.portrait?.id).to.equal(added.body.id);
    const listed = (await gallery.member.listPersonPortraits({ params: { id } })).body;
    expect([listed.selected?.id, listed.images.length]).to.deep.equal([added.body.id, 1]);
    const child = gallery.api.as(await gallery.api.given.child());
    expect((await child.listPersonPortraits({ params: { id } })).status).to.equal(404);
    expect((await child.getImage({ params: { id: added.body.id } })).status).to.equal(404);
    const none = await gallery.admin.setPersonPortrait({ params: { id }, body: { none: true } });
    expect([none.status, none.body]).to.deep.equal([200, null]);
    expect((await gallery.member.listPersonPortraits({ params: { id } })).body).to.deep.include({
      locked: true,
      images: [],
    });
    const set = await gallery.admin.setPersonPortrait({ params: { id }, body: { imageId: added.body.id } });
    expect(set.body).to.include({ id: added.body.id, selected: true, locked: true });
    const face = await gallery.admin.setPersonPortrait({ params: { id }, body: { faceId: ABSENT } });
    expect(face.status).to.equal(404);
    expect((await gallery.admin.resetPersonPortrait({ params: { id } })).status).to.equal(204);
    expect((await gallery.admin.listPersonPortraits({ params: { id } })).body.locked).to.equal(false);
  });
});
