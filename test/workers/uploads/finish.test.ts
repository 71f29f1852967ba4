import { randomBytes } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import sharp from 'sharp';
import type { UploadRow } from '#areas/uploads/public.ts';
import { arrive } from '#workers/uploads/arrive.ts';
import { finishUpload } from '#workers/uploads/finish.ts';
import { sweepUploads } from '#workers/uploads/sweep.ts';
import { newUploadPlace, sha256Of, type UploadPlace } from './support.ts';

const TAKEN = { IFD2: { DateTimeOriginal: '2020:06:01 12:00:00' } };

/** A picture that no other test has. */
const photo = (exif: Record<string, Record<string, string>> = {}): Promise<Buffer> =>
  sharp(randomBytes(30 * 20 * 3), { raw: { width: 30, height: 20, channels: 3 } })
    .withMetadata({ exif })
    .jpeg()
    .toBuffer();

describe('upload.finish', function () {
  this.timeout(60_000);
  let place: UploadPlace;
  beforeEach(async () => {
    place = await newUploadPlace();
  });

  it('makes one item of a file, under the month of the photo, with the time and the person', async () => {
    const bytes = await photo(TAKEN);
    const modifiedAt = '2020-06-02T00:00:00.000Z';
    const id = await place.send({ name: '../IMG 1.jpg', bytes, more: { modifiedAt, sha256: sha256Of(bytes) } });
    const sent = await place.finish(id);
    expect(sent).to.include({ state: 'finished' });
    expect(await place.tree()).to.deep.equal(['2020/06/_IMG 1.jpg']);
    const file = join(place.path, '2020/06/_IMG 1.jpg');
    expect((await readFile(file)).equals(bytes)).to.equal(true);
    expect((await stat(file)).mtime.toISOString()).to.equal(modifiedAt);
    const item = await place.api.deps
      .db('items')
      .where({ id: sent.itemId ?? '' })
      .first();
    expect(item).to.include({ added_by: place.member.accountId, type: 'photo' });
    expect(await place.api.deps.objects.stat('foyer-uploads', `uploads/${id}`)).to.equal(undefined);
    await finishUpload({ uploadId: id }, place.work()); // a second time is no fault
    expect(await place.tree()).to.have.lengthOf(1);
  });

  it('never writes over another file, and takes numbers for equal names', async () => {
    const [first, second] = [await photo(TAKEN), await photo(TAKEN)];
    await mkdir(join(place.path, '2020/06'), { recursive: true });
    await writeFile(join(place.path, '2020/06/a.jpg'), 'theirs');
    for (const bytes of [first, second]) await place.finish(await place.send({ name: 'a.jpg', bytes }));
    expect(await place.tree()).to.deep.equal(['2020/06/a-2.jpg', '2020/06/a-3.jpg', '2020/06/a.jpg']);
    expect(await readFile(join(place.path, '2020/06/a.jpg'), 'utf8')).to.equal('theirs');
  });

  it('makes one item of two uploads with equal bytes, and knows a file that only a scan has read', async () => {
    const bytes = await photo();
    const ids = [await place.send({ name: 'a.jpg', bytes }), await place.send({ name: 'b.jpg', bytes })];
    const [one, two] = [await place.finish(ids[0] ?? ''), await place.finish(ids[1] ?? '')];
    expect([one.state, two.state]).to.deep.equal(['finished', 'duplicate']);
    expect(two.itemId).to.equal(one.itemId);
    const [known] = await place.announce([{ name: 'c.jpg', bytes, more: { sha256: sha256Of(bytes) } }]);
    expect(known).to.deep.include({ outcome: 'duplicate', itemId: one.itemId });
    const scanned = await photo();
    await writeFile(join(place.path, 'scanned.jpg'), scanned);
    await place.scan();
    const third = await place.finish(await place.send({ name: 'd.jpg', bytes: scanned }));
    expect(third.state).to.equal('duplicate');
    expect((await place.tree()).filter((name) => name.endsWith('.jpg'))).to.have.lengthOf(2);
  });

  it('takes a duplicate out of the trash', async () => {
    const bytes = await photo();
    const { itemId = '' } = await place.finish(await place.send({ name: 'a.jpg', bytes }));
    const { db } = place.api.deps;
    await db('items').where({ id: itemId }).update({ trashed_at: new Date(), trash_reason: 'deleted' });
    // A trashed item is not visible, so the file itself is compared.
    const again = await place.finish(await place.send({ name: 'b.jpg', bytes }));
    expect(again).to.include({ state: 'duplicate', itemId });
    expect((await db('items').where({ id: itemId }).first())?.trashed_at).to.equal(null);
  });

  it('refuses other bytes than announced and content that is no photo, and leaves nothing', async () => {
    const bytes = await photo();
    const cases = [
      { name: 'a.jpg', bytes, more: { sha256: '0'.repeat(64) }, reason: 'checksum-mismatch' },
      { name: 'b.jpg', bytes: Buffer.from('<html>no picture</html>'), reason: 'not-a-photo' },
      { name: 'c.mp4', bytes: Buffer.from('#EXTM3U\nhttp://127.0.0.1/x'), reason: 'not-a-photo' },
      { name: 'd.jpg', bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), reason: 'unsupported-format' },
      { name: 'e.xmp', bytes: Buffer.from('plain words'), reason: 'not-a-photo' },
    ];
    for (const { reason, ...file } of cases) {
      const sent = await place.finish(await place.send(file));
      expect(sent, file.name).to.include({ state: 'failed', errorReason: reason });
    }
    expect(await place.tree()).to.deep.equal([]);
  });

  it('keeps the parts of a live photo and an XMP file together, in any order', async () => {
    const still = await photo(TAKEN);
    const film = await readFile(join(place.made, 'tiny.mp4'));
    const xmp = Buffer.from('<x:xmpmeta xmlns:x="adobe:ns:meta/"></x:xmpmeta>');
    const pairKey = 'live-1';
    const xmpId = await place.send({ name: 'IMG_7.xmp', bytes: xmp, more: { pairKey } });
    expect(await place.finish(xmpId)).to.include({ state: 'importing' });
    const stillId = await place.send({ name: 'IMG_7.jpg', bytes: still, more: { pairKey } });
    const movingId = await place.send({ name: 'other.mp4', bytes: film, more: { pairKey } });
    const one = await place.finish(stillId);
    const two = await place.finish(movingId);
    const three = await place.finish(xmpId);
    expect([one.state, two.state, three.state]).to.deep.equal(['finished', 'finished', 'finished']);
    expect(await place.tree()).to.deep.equal(['2020/06/IMG_7.jpg', '2020/06/IMG_7.mp4', '2020/06/IMG_7.xmp']);
    expect([two.itemId, three.itemId]).to.deep.equal([one.itemId, one.itemId]);
  });

  it('waits while the storage is unavailable, and goes on when it is back', async () => {
    const { db } = place.api.deps;
    const id = await place.send({ name: 'a.jpg', bytes: await photo() });
    await db('storages').where({ id: place.api.given.storageId }).update({ state: 'unavailable' });
    try {
      expect(await place.finish(id)).to.include({ errorReason: 'storage-away' });
    } finally {
      await db('storages').where({ id: place.api.given.storageId }).update({ state: 'available' });
    }
    const sent = await place.finish(id);
    expect(sent.state).to.equal('finished');
    expect(sent.errorReason).to.equal(undefined);
  });

  it('ends when the person lost the access meanwhile', async () => {
    const id = await place.send({ name: 'a.jpg', bytes: await photo() });
    await place.api.deps.db('accounts').where({ id: place.member.accountId }).update({ role: 'guest' });
    await finishUpload({ uploadId: id }, place.work());
    const row = await place.api.deps.db('uploads').where({ id }).first();
    expect(row).to.include({ state: 'failed', error_reason: 'access-lost' });
    expect(await place.tree()).to.deep.equal([]);
  });

  it('goes on after a worker died between the row and the file, and between the file and the scan', async () => {
    const { db } = place.api.deps;
    const bytes = await photo(TAKEN);
    const id = await place.send({ name: 'a.jpg', bytes });
    const folder = await db('library_folders').where({ id: place.folderId }).first('path');
    const noted = { folder_id: place.folderId, path: `${folder?.path}/2020/06/a.jpg` };
    await db('uploads')
      .where({ id })
      .update({ state: 'importing', ...noted });
    expect((await place.finish(id)).state).to.equal('finished');
    expect(await place.tree()).to.deep.equal(['2020/06/a.jpg']);
    await db('uploads').where({ id }).update({ state: 'importing', ended_at: null, item_id: null });
    expect((await place.finish(id)).state).to.equal('finished');
    expect(await place.tree()).to.deep.equal(['2020/06/a.jpg']);
  });

  it('keeps to its file when another program changes it after it got its name', async () => {
    const id = await place.send({ name: 'a.jpg', bytes: await photo(TAKEN) });
    const waits = await finishUpload({ uploadId: id }, place.work()).then(String, (error: Error) => error.message);
    expect(waits, 'for the scan').to.equal('postponed');
    const changed = await photo();
    await writeFile(join(place.path, '2020/06/a.jpg'), changed);
    expect(await place.finish(id)).to.include({ state: 'finished' });
    expect(await place.tree()).to.deep.equal(['2020/06/a.jpg']);
    expect((await readFile(join(place.path, '2020/06/a.jpg'))).equals(changed)).to.equal(true);
  });

  it('ends when the stored object was damaged after it arrived', async () => {
    const { db, objects } = place.api.deps;
    const id = await place.send({ name: 'a.jpg', bytes: await photo(TAKEN) });
    await arrive(place.work(), (await db('uploads').where({ id }).first()) as UploadRow);
    await objects.put('foyer-uploads', `uploads/${id}`, await photo(TAKEN));
    expect(await place.finish(id)).to.include({ state: 'failed', errorReason: 'corrupt' });
    expect(await place.tree()).to.deep.equal([]);
  });

  it('can be cancelled again after a worker died between the row and the file', async () => {
    const { db, objects } = place.api.deps;
    const id = await place.send({ name: 'a.jpg', bytes: await photo(TAKEN) });
    const folder = await db('library_folders').where({ id: place.folderId }).first('path');
    await db('uploads')
      .where({ id })
      .update({ state: 'importing', folder_id: place.folderId, path: `${folder?.path}/2020/06/a.jpg` });
    const answers: number[] = [];
    const get: typeof objects.get = async (...given) => {
      const body = await objects.get(...given);
      if (answers.length === 0) answers.push((await place.as.cancelUpload({ params: { id } } as never)).status);
      return body;
    };
    await finishUpload({ uploadId: id }, { ...place.work(), objects: { ...objects, get } });
    expect(answers).to.deep.equal([204]);
    expect(await place.read(id)).to.include({ state: 'cancelled' });
    expect(await place.tree()).to.deep.equal([]);
  });

  it('notifies the person once, when a batch has been quiet for ten minutes', async () => {
    const { db } = place.api.deps;
    const { accountId } = place.member;
    for (const name of ['a.jpg', 'b.jpg']) await place.finish(await place.send({ name, bytes: await photo() }));
    const noticed = (): Promise<unknown[]> =>
      db('notifications')
        .where({ kind: 'upload-finished' })
        .whereIn('profile_id', db('profiles').where({ account_id: accountId }).select('id'));
    await sweepUploads({ accountId }, place.work());
    expect(await noticed()).to.have.lengthOf(0);
    await db('uploads')
      .where({ account_id: accountId })
      .update({ ended_at: new Date(Date.now() - 700_000) });
    await sweepUploads({ accountId }, place.work());
    await sweepUploads({ accountId }, place.work());
    expect(await noticed()).to.have.lengthOf(1);
  });

  it('expires uploads that no device continues, with their parts', async () => {
    const { db, objects } = place.api.deps;
    const big = randomBytes((8 << 20) + 10);
    const [answer] = await place.announce([{ name: 'a.jpg', bytes: big }]);
    const id = answer?.upload?.id ?? '';
    expect((await place.chunk(id, 1, big.subarray(8 << 20))).status).to.equal(200);
    await db('uploads')
      .where({ id })
      .update({ updated_at: new Date(Date.now() - 8 * 86_400_000) });
    await sweepUploads({}, place.work());
    expect(await place.read(id)).to.include({ state: 'expired' });
    const left: string[] = [];
    for await (const parted of objects.listParted('foyer-uploads')) if (parted.key.includes(id)) left.push(parted.id);
    expect(left).to.deep.equal([]);
  });
});
