import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { cleanName, kindOfName, numbered } from '#areas/uploads/public.ts';
import { eventually } from '#support/stores.ts';
import { newPlace } from '../../workers/scan/support.ts';
import { newUploadPlace, sha256Of, type UploadPlace } from '../../workers/uploads/support.ts';

const MIB = 1 << 20;

describe('uploads', function () {
  this.timeout(60_000);
  let place: UploadPlace;
  before(async () => {
    place = await newUploadPlace();
  });
  const announced = async (bytes: Buffer, name = 'a.jpg'): Promise<string> =>
    (await place.announce([{ name, bytes, more: { clientFileId: sha256Of(bytes) } }]))[0]?.upload?.id ?? '';
  const reasonOf = async (response: Response): Promise<unknown> => {
    const { error } = (await response.json()) as {
      error: { details: { reason?: string; issues?: { code: string }[] } };
    };
    return [response.status, error.details.reason ?? error.details.issues?.[0]?.code];
  };

  it('answers for each file in order, and refuses one without spoiling the others', async () => {
    const some = { bytes: Buffer.from('xyz') };
    const answers = await place.announce([
      { name: 'ok.HEIC', ...some },
      { name: 'tool.exe', ...some },
      { name: 'no extension', ...some },
      { name: '...jpg', ...some },
      { name: 'huge.mov', bytes: some.bytes, more: { sizeBytes: 30 * 2 ** 30 } },
    ]);
    expect(answers.map(({ outcome, reason }) => reason ?? outcome)).to.deep.equal([
      ...['created', 'unsupported-format', 'not-a-photo', 'bad-name', 'too-large'],
    ]);
    const [again] = await place.announce([{ name: 'ok.HEIC', ...some, more: { clientFileId: 'x' } }]);
    expect(again?.outcome, 'another file of the same name').to.equal('created');
  });

  it('takes chunks in any order, resumes with those that are stored, and checks the hash and the size of each', async () => {
    const bytes = randomBytes(16 * MIB + 100);
    const id = await announced(bytes, 'big.jpg');
    const last = bytes.subarray(16 * MIB);
    expect(await reasonOf(await place.chunk(id, 2, { bytes: last, hash: '0'.repeat(64) }))).to.deep.equal([
      400,
      'checksum',
    ]);
    expect(await reasonOf(await place.chunk(id, 2, last.subarray(1)))).to.deep.equal([400, 'chunk_size']);
    expect((await place.chunk(id, 3, last)).status).to.equal(404);
    for (let time = 0; time < 2; time += 1) expect((await place.chunk(id, 2, last)).status).to.equal(200);
    const [resumed] = await place.announce([{ name: 'big.jpg', bytes, more: { clientFileId: sha256Of(bytes) } }]);
    expect(resumed).to.deep.include({ outcome: 'resumed' });
    expect(resumed?.upload).to.deep.include({ id, received: [[2, 2]], receivedBytes: 100, chunkCount: 3 });
    const answers = await Promise.all(
      [0, 1].map((at) => place.chunk(id, at, bytes.subarray(at * 8 * MIB, (at + 1) * 8 * MIB))),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(await place.read(id)).to.include({ state: 'verifying' });
    expect(await reasonOf(await place.chunk(id, 0, bytes.subarray(0, 8 * MIB)))).to.deep.equal([409, 'upload-ended']);
    const jobs = await place.api.deps
      .db('jobs')
      .where({ kind: 'upload.finish' })
      .whereRaw(`payload->>'uploadId' = ?`, [id]);
    expect(jobs).to.have.lengthOf(1);
  });

  it('is not whole while another content takes the place of a stored chunk', async () => {
    const bytes = randomBytes(8 * MIB + 100);
    const [first, last] = [bytes.subarray(0, 8 * MIB), bytes.subarray(8 * MIB)];
    const id = await announced(bytes, 'replaced.jpg');
    expect((await place.chunk(id, 0, randomBytes(8 * MIB))).status).to.equal(200);
    const slow = Promise.withResolvers<void>();
    const replaced = fetch(`${place.api.url}/api/v1/uploads/${id}/chunks/0`, {
      method: 'PUT',
      headers: {
        ...place.member.headers,
        ...{ 'content-type': 'application/octet-stream', 'x-chunk-sha256': sha256Of(first) },
      },
      body: (async function* () {
        yield new Uint8Array(first.subarray(0, MIB));
        await slow.promise;
        yield new Uint8Array(first.subarray(MIB));
      })() as never,
      duplex: 'half',
    } as RequestInit);
    await eventually(async () => ((await place.read(id)) as { received?: unknown[] }).received?.length === 0);
    expect((await place.chunk(id, 1, last)).status).to.equal(200);
    expect(await place.read(id)).to.include({ state: 'receiving' });
    slow.resolve();
    expect((await replaced).status).to.equal(200);
    expect(await place.read(id)).to.include({ state: 'verifying' });
  });

  it('limits the chunks of one file that are sent at once', async () => {
    const bytes = randomBytes(8 * MIB * 8);
    const id = await announced(bytes, 'many.jpg');
    const stop = new AbortController();
    const slow = Array.from({ length: 6 }, (_, index) => {
      const part = bytes.subarray(index * 8 * MIB, (index + 1) * 8 * MIB);
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new Uint8Array(part.subarray(0, 1000))),
      });
      const headers = {
        ...place.member.headers,
        'content-type': 'application/octet-stream',
        'x-chunk-sha256': sha256Of(part),
      };
      const path = `${place.api.url}/api/v1/uploads/${id}/chunks/${index}`;
      return fetch(path, { method: 'PUT', headers, body, duplex: 'half', signal: stop.signal } as never).catch(
        () => undefined,
      );
    });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const seventh = await place.chunk(id, 6, bytes.subarray(48 * MIB, 56 * MIB));
    expect(seventh.status).to.equal(429);
    stop.abort();
    await Promise.all(slow);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await place.chunk(id, 6, bytes.subarray(48 * MIB, 56 * MIB))).status).to.equal(200);
  });

  it('holds the quota of the account, which a cancelled upload frees', async () => {
    const { db } = place.api.deps;
    await db('accounts')
      .where({ id: place.member.accountId })
      .update({ limits: JSON.stringify({ uploadQuotaBytes: 1000 }) });
    await db('uploads')
      .where({ account_id: place.member.accountId })
      .update({ ended_at: new Date(), state: 'cancelled' });
    try {
      const files = [1, 2].map((at) => ({ name: `${at}.jpg`, bytes: randomBytes(600) }));
      const answers = await place.announce(files);
      expect(answers.map(({ outcome, reason }) => reason ?? outcome)).to.deep.equal(['created', 'quota']);
      const id = answers[0]?.upload?.id ?? '';
      expect((await place.as.cancelUpload({ params: { id } } as never)).status).to.equal(204);
      const [second] = await place.announce(files.slice(1));
      expect(second?.outcome).to.equal('created');
      expect(await place.read(id)).to.include({ state: 'cancelled' });
      for (let time = 0; time < 2; time += 1)
        expect((await place.as.cancelUpload({ params: { id } } as never)).status).to.equal(204);
      expect(await place.read(id), 'forgotten').to.equal(undefined);
    } finally {
      await db('accounts').where({ id: place.member.accountId }).update({ limits: '{}' });
    }
  });

  it('hides the uploads and libraries of others', async () => {
    const bytes = randomBytes(100);
    const id = await announced(bytes, 'mine.jpg');
    const other = place.api.as(await place.api.given.member());
    expect((await other.listUploads({ query: { ids: id } } as never)).body).to.deep.include({ items: [] });
    expect((await other.cancelUpload({ params: { id } } as never)).status).to.equal(404);
    const hidden = await newPlace('photos', {}, place.api);
    await place.api.deps.db('libraries').where({ id: hidden.libraryId }).update({ everyone: false });
    const body = { libraryId: hidden.libraryId, files: [{ name: 'a.jpg', sizeBytes: 1 }] };
    expect((await place.as.createUploads({ body } as never)).status).to.equal(404);
  });

  it('never makes a path, a hidden file or a device of a name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 255 }), (text) => {
        const name = cleanName(`${text}.jpg`);
        if (name === undefined) return;
        expect(name).to.not.match(/[/\\\p{C}]|^\./u);
        expect(Buffer.byteLength(name)).to.be.at.most(160);
        expect(kindOfName(numbered(name, 2))).to.equal('picture');
      }),
    );
    expect(cleanName('con.jpg')).to.equal('_con.jpg');
    expect(cleanName('../../etc/x.jpg')).to.equal('_.._etc_x.jpg');
  });
});
