import { copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { givenFile } from '#support/given-items.ts';
import { errorOf, issueOf } from '#support/signing-in.ts';
import { atEnd } from '#support/stores.ts';
import { handlers } from '#workers/handlers.ts';
import { probeFile } from '#workers/probe/probe.ts';
import { startRuntime } from '#workers/runtime.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';
import { type Gallery, openGallery } from './support.ts';

describe('Artwork: frames of films', function () {
  this.timeout(120_000);
  let gallery: Gallery;
  let film: string;
  before(async () => {
    gallery = await openGallery();
    const runtime = await startRuntime(gallery.api.deps, handlers, () => undefined);
    atEnd(() => runtime.stop());
    film = await gallery.film({ title: 'Framed' });
    const path = join(gallery.api.mediaRoot, 'Framed.mkv');
    await copyFile(join((await fixtures()).made, 'h264-base.mkv'), path);
    const { file } = await probeFile(path, {});
    const { db } = gallery.api.deps;
    const fileId = await givenFile(db, gallery.library, film, { duration_ms: file.durationMs, probe: { ...file } });
    const { size, mtimeMs } = await stat(path);
    await db('media_files')
      .where({ id: fileId })
      .update({ path: 'Framed.mkv', size_bytes: size, modified_ms: mtimeMs });
  });
  const capture = (body: object, id = film) => gallery.admin.captureItemArtwork({ params: { id }, body });

  it('become images: whole for a backdrop, their middle for a poster', async () => {
    const backdrop = await capture({ positionMs: 4000, kind: 'backdrop' });
    expect(backdrop.status, JSON.stringify(backdrop.body)).to.equal(201);
    expect(backdrop.body).to.deep.include({
      kind: 'backdrop',
      source: 'frame',
      width: 320,
      height: 180,
      selected: true,
    });
    const poster = await capture({ positionMs: 4000, kind: 'poster' });
    expect(poster.body).to.deep.include({ kind: 'poster', width: 120, height: 180 });
    const bytes = await gallery.member.getImage({ params: { id: poster.body.id }, query: { format: 'png' } });
    expect(bytes.status).to.equal(200);
    expect((await gallery.member.getItem({ params: { id: film } })).body.artwork.poster?.id).to.equal(poster.body.id);
  });

  it('are shown as a preview without being kept', async () => {
    const preview = await capture({ positionMs: 9000, kind: 'thumb', preview: true });
    expect([preview.status, preview.body.selected]).to.deep.equal([200, false]);
    expect((await gallery.admin.getImage({ params: { id: preview.body.id } })).status).to.equal(200);
    const listed = (await gallery.admin.listItemArtwork({ params: { id: film } })).body.kinds.thumb;
    expect(listed?.images).to.deep.equal([]);
    const { db } = gallery.api.deps;
    await db('images')
      .where({ id: preview.body.id })
      .update({ expires_at: new Date(Date.now() - 1000) });
    expect((await gallery.admin.getImage({ params: { id: preview.body.id } })).status).to.equal(404);
  });

  it('are refused beyond the end, without a position, and of items without a film', async () => {
    expect(issueOf(await capture({ positionMs: 3_600_000 }))).to.equal('too_big');
    expect(issueOf(await capture({}))).to.equal('required');
    const empty = await capture({ positionMs: 0 }, await gallery.film());
    expect([empty.status, errorOf(empty).code]).to.deep.equal([415, 'MEDIA_NOT_PLAYABLE']);
    const { db } = gallery.api.deps;
    await db('storages').update({ state: 'unreachable' });
    const gone = await capture({ positionMs: 0 });
    await db('storages').update({ state: 'available' });
    expect([gone.status, errorOf(gone).code]).to.deep.equal([423, 'STORAGE_UNAVAILABLE']);
  });
});
