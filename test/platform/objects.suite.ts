import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { expect } from 'chai';
import { PartRefused } from '#platform/object-parts.ts';
import { ObjectMissing, type Objects } from '#platform/objects.ts';

const BUCKET = 'foyer-artwork';

/** The behaviour of every object store, on any backend. */
export function objectsSuite(connect: () => Promise<Objects>): void {
  let objects: Objects;
  before(async () => {
    objects = await connect();
    await objects.prepare([BUCKET, 'foyer-derived']);
    await objects.prepare([BUCKET]); // a second time is no fault
  });
  const read = async (key: string, range?: { start?: number; end?: number }): Promise<string> =>
    text(await objects.get(BUCKET, key, range));
  const keys = async (prefix: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const { key } of objects.list(BUCKET, prefix)) found.push(key);
    return found.sort();
  };

  it('returns the stored bytes, from a string, bytes or a stream, and the newer of two', async () => {
    await objects.put(BUCKET, 'kinds/a', 'as text: ä');
    expect(await read('kinds/a')).to.equal('as text: ä');
    const bytes = randomBytes(3_000_000);
    await objects.put(BUCKET, 'kinds/a', bytes);
    expect((await buffer(await objects.get(BUCKET, 'kinds/a'))).equals(bytes)).to.equal(true);
    await objects.put(BUCKET, 'kinds/a', Readable.from([bytes.subarray(0, 10), bytes.subarray(10)]));
    expect((await buffer(await objects.get(BUCKET, 'kinds/a'))).equals(bytes)).to.equal(true);
    await objects.put(BUCKET, 'kinds/empty', '');
    expect(await read('kinds/empty')).to.equal('');
  });

  it('gives a range, with both ends in it', async () => {
    await objects.put(BUCKET, 'range', '0123456789');
    expect(await read('range', { start: 0, end: 0 })).to.equal('0');
    expect(await read('range', { start: 2, end: 5 })).to.equal('2345');
    expect(await read('range', { start: 7 })).to.equal('789');
    expect(await read('range', { end: 3 })).to.equal('0123');
  });

  it('knows size, time and an etag that changes with the content', async () => {
    await objects.put(BUCKET, 'stat', 'one');
    const first = await objects.stat(BUCKET, 'stat');
    expect(first?.size).to.equal(3);
    expect(Math.abs(Date.now() - Number(first?.modifiedAt))).to.be.lessThan(60_000);
    expect((await objects.stat(BUCKET, 'stat'))?.etag).to.equal(first?.etag);
    await objects.put(BUCKET, 'stat', 'two');
    expect((await objects.stat(BUCKET, 'stat'))?.etag).to.not.equal(first?.etag);
  });

  it('lists sizes and times', async () => {
    await objects.put(BUCKET, 'told/one', '12345');
    for await (const { size, modifiedAt } of objects.list(BUCKET, 'told/')) {
      expect(size).to.equal(5);
      expect(Math.abs(Date.now() - modifiedAt.getTime())).to.be.lessThan(60_000);
    }
  });

  it('reports that an object is missing, and removes an absent object without complaint', async () => {
    expect(await objects.stat(BUCKET, 'no/such')).to.equal(undefined);
    for (const range of [{}, { start: 5 }, { start: 0, end: 3 }]) {
      const error = await objects.get(BUCKET, 'no/such', range).catch((e: unknown) => e);
      expect(error, JSON.stringify(range)).to.be.instanceOf(ObjectMissing);
    }
    await objects.remove(BUCKET, ['no/such']);
    await objects.remove(BUCKET, []);
    await objects.removePrefix(BUCKET, 'no/');
    expect(await keys('no/')).to.deep.equal([]);
  });

  it('lists and removes by prefix, across folders and in the middle of a name', async () => {
    const all = ['list/a/1', 'list/a/2', 'list/ab/3', 'list/b', 'listing'];
    for (const key of all) await objects.put(BUCKET, key, key);
    await objects.put('foyer-derived', 'list/a/1', 'another bucket');
    expect(await keys('list/')).to.deep.equal(all.slice(0, 4));
    expect(await keys('list')).to.deep.equal(all);
    expect(await keys('list/a')).to.deep.equal(all.slice(0, 3));
    for await (const { key, size } of objects.list(BUCKET, 'list')) expect(size, key).to.equal(key.length);
    await objects.removePrefix(BUCKET, 'list/a/');
    expect(await keys('list')).to.deep.equal(all.slice(2));
    await objects.removePrefix(BUCKET, 'list/a');
    await objects.remove(BUCKET, ['listing']);
    expect(await keys('list')).to.deep.equal(['list/b']);
    expect(await objects.stat('foyer-derived', 'list/a/1')).to.include({ size: 14 });
  });

  it('keeps keys with spaces and letters of every kind apart', async () => {
    const odd = ['odd/a b', 'odd/ä', 'odd/a+b', 'odd/a%20b', "odd/a'b;c", 'odd/日本', 'odd/.hidden'];
    for (const key of odd) await objects.put(BUCKET, key, key);
    for (const key of odd) expect(await read(key)).to.equal(key);
    expect(await keys('odd/')).to.deep.equal([...odd].sort());
  });

  it('shows no object whose bytes broke off, and leaves the one before it', async () => {
    const broken = (): Readable =>
      Readable.from(
        (async function* () {
          yield Buffer.alloc(100_000);
          throw new Error('the source broke');
        })(),
      );
    await objects.put(BUCKET, 'whole/old', 'old');
    for (const key of ['whole/new', 'whole/old']) {
      const error = await objects.put(BUCKET, key, broken()).catch((e: unknown) => e);
      expect(error).to.be.instanceOf(Error);
    }
    expect(await objects.stat(BUCKET, 'whole/new')).to.equal(undefined);
    expect(await read('whole/old')).to.equal('old');
  });

  it('gives a reader the old or the new content and never a mixture', async () => {
    const versions = Array.from({ length: 6 }, (_, i) => String(i).repeat(2_000_000));
    await objects.put(BUCKET, 'swap', versions[0] ?? '');
    let writing = true;
    const readers = [1, 2].map(async () => {
      while (writing) {
        const seen = await read('swap');
        expect(versions.includes(seen), `${seen.length} bytes`).to.equal(true);
      }
    });
    for (const version of versions) await objects.put(BUCKET, 'swap', version);
    writing = false;
    await Promise.all(readers);
  });

  it('makes an object of parts in any order, and never of bytes that were not announced', async () => {
    const [first, second] = [randomBytes(5 << 20), randomBytes(1000)];
    const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    const object = { bucket: BUCKET, key: 'parts/whole', id: await objects.beginParts(BUCKET, 'parts/whole') } as const;
    const put = (number: number, sent: Buffer, announced: Buffer): Promise<string> =>
      objects.putPart(object, {
        ...{ number, size: announced.length, sha256: hashOf(announced) },
        body: Readable.from([sent.subarray(0, 700), sent.subarray(700)], { objectMode: false }),
      });
    const faultOf = (sent: Promise<string>): Promise<unknown> =>
      sent.then(
        () => 'taken',
        (error: unknown) => (error instanceof PartRefused ? error.fault : error),
      );
    const other = Buffer.from(second);
    other[999] = (other[999] ?? 0) ^ 1;
    expect(await faultOf(put(2, other, second))).to.equal('sha256');
    expect(await faultOf(put(2, second.subarray(0, 990), second))).to.equal('size');
    expect(await faultOf(put(2, Buffer.concat([second, second]), second))).to.equal('size');
    const etags = [await put(2, second, second), await put(1, first, first)];
    const again = await put(2, second, second);
    expect(again).to.equal(etags[0]);
    expect(await objects.stat(BUCKET, object.key)).to.equal(undefined);
    const parts = [
      { number: 1, etag: etags[1] ?? '' },
      { number: 2, etag: again },
    ];
    await objects.joinParts(object, parts);
    await objects.joinParts(object, parts); // a second time is no fault
    const whole = await buffer(await objects.get(BUCKET, object.key));
    expect(whole.equals(Buffer.concat([first, second]))).to.equal(true);
  });

  it('lists objects that are not whole, and forgets their parts', async () => {
    const id = await objects.beginParts(BUCKET, 'parts/stray');
    const body = Readable.from([Buffer.from('x')], { objectMode: false });
    const sha256 = createHash('sha256').update('x').digest('hex');
    await objects.putPart({ bucket: BUCKET, key: 'parts/stray', id }, { number: 1, size: 1, sha256, body });
    const ids = async (): Promise<string[]> => {
      const found: string[] = [];
      for await (const parted of objects.listParted(BUCKET)) if (parted.key === 'parts/stray') found.push(parted.id);
      return found;
    };
    expect(await ids()).to.deep.equal([id]);
    await objects.dropParts({ bucket: BUCKET, key: 'parts/stray', id });
    await objects.dropParts({ bucket: BUCKET, key: 'parts/stray', id });
    expect(await ids()).to.deep.equal([]);
  });
}
