import { expect } from 'chai';
import sharp from 'sharp';
import { ABSENT } from '#support/answers.ts';
import { errorOf } from '#support/signing-in.ts';
import { eventually } from '#support/stores.ts';
import { type Gallery, openGallery, painted, type Uploaded } from './support.ts';

const bytesOf = (answer: { body: unknown } | undefined): Buffer => answer?.body as Buffer;
const errorIn = (answer: { body: unknown }) =>
  (JSON.parse(bytesOf(answer).toString()) as { error: { details: Record<string, unknown> } }).error;

const HTML = 'image/avif,image/webp,image/apng,image/*,*/*;q=0.8';

describe('Artwork: getImage', function () {
  this.timeout(60_000);
  let gallery: Gallery;
  let film: string;
  let poster: Uploaded;
  before(async () => {
    gallery = await openGallery();
    film = await gallery.film({ title: 'Heat' });
    poster = await gallery.upload(film, { bytes: await painted(1200, 1800, '#c04020') });
  });
  const get = (query: Record<string, string | number> = {}, headers: Record<string, string> = {}) =>
    gallery.member.getImage({ params: { id: poster.id }, query, headers });
  const facts = async (body: unknown) => {
    const { format, width, height, exif, icc } = await sharp(body as Buffer).metadata();
    return { format, width, height, exif, icc: icc !== undefined };
  };

  it('rounds sizes up, keeps the proportion and never enlarges', async () => {
    expect(await facts((await get({ width: 200, format: 'webp' })).body)).to.include({
      format: 'webp',
      width: 240,
      height: 360,
    });
    expect(await facts((await get({ height: 100, format: 'jpeg' })).body)).to.include({
      format: 'jpeg',
      width: 107,
      height: 160,
    });
    expect(await facts((await get({ width: 3840, format: 'webp' })).body)).to.include({ width: 1200, height: 1800 });
    expect(await facts((await get({ format: 'png' })).body)).to.include({ format: 'png', width: 1200, height: 1800 });
    const covered = await get({ width: 480, height: 480, fit: 'cover', format: 'webp' });
    expect(await facts(covered.body)).to.include({ width: 480, height: 480 });
    const padded = await get({ width: 480, height: 480, fit: 'contain', format: 'png' });
    expect(await facts(padded.body)).to.include({ width: 480, height: 480 });
    expect((await get({ width: 0 })).status).to.equal(400);
    expect((await get({ width: 3841 })).status).to.equal(400);
    expect((await get({ quality: 39 })).status).to.equal(400);
  });

  it('chooses the format by Accept: WebP for a large picture, AVIF once that is made, JPEG for others', async () => {
    const large = await get({ width: 320 }, { accept: HTML });
    expect(large.headers.get('content-type')).to.equal('image/webp');
    expect(large.headers.get('vary')).to.match(/accept/i);
    expect((await get({ width: 320, format: 'avif' })).headers.get('content-type')).to.equal('image/avif');
    await eventually(async () => gallery.api.deps.db('image_variants').where('name', 'like', '%.avif').first());
    expect((await get({ width: 320 }, { accept: HTML })).headers.get('content-type')).to.equal('image/avif');
    expect((await get({ width: 320 }, { accept: 'image/webp' })).headers.get('content-type')).to.equal('image/webp');
    expect((await get({ width: 320 }, { accept: '*/*' })).headers.get('content-type')).to.equal('image/jpeg');
    const transparent = await sharp({ create: { width: 300, height: 100, channels: 4, background: '#ff000040' } })
      .png()
      .toBuffer();
    const logo = await gallery.upload(film, { kind: 'logo', bytes: transparent });
    const plain = await gallery.member.getImage({ params: { id: logo.id }, headers: { accept: '*/*' } });
    expect(plain.headers.get('content-type')).to.equal('image/png');
    expect((await sharp(plain.body as never).stats()).isOpaque).to.equal(false);
  });

  it('has a strong ETag, is immutable with its version, and answers 304 without the store', async () => {
    const first = await get({ width: 160, v: poster.version, format: 'webp' });
    const etag = first.headers.get('etag') ?? '';
    expect(etag).to.match(/^"[^"]+"$/);
    expect(first.headers.get('cache-control')).to.equal('private, max-age=31536000, immutable');
    expect(first.headers.get('content-security-policy')).to.equal("default-src 'none'");
    expect(first.headers.get('content-disposition')).to.equal('inline');
    expect(first.headers.get('x-content-type-options')).to.equal('nosniff');
    expect((await get({ width: 160, v: '0', format: 'webp' })).headers.get('cache-control')).to.equal(
      'private, no-cache',
    );
    const { objects } = gallery.api.deps;
    const read = objects.get.bind(objects);
    objects.get = () => Promise.reject(new Error('the store is read'));
    try {
      const same = await get({ width: 160, format: 'webp' }, { 'if-none-match': etag });
      expect(same.status).to.equal(304);
    } finally {
      objects.get = read;
    }
    const head = await gallery.api.fetch(`/api/v1/images/${poster.id}?width=160&format=webp`, { method: 'HEAD' });
    expect(head.status).to.equal(401);
  });

  it('is made once, kept in the store and noted with its size', async () => {
    const { db, objects } = gallery.api.deps;
    const row = await db('images').where({ id: poster.id }).first();
    const answers = await Promise.all(Array.from({ length: 12 }, () => get({ width: 960, format: 'webp' })));
    expect(new Set(answers.map(({ body }) => (body as unknown as Buffer).toString('base64'))).size).to.equal(1);
    const made = { sha256: row.sha256, name: '960x1440-q80.webp' };
    const kept = await eventually(async () => db('image_variants').where(made).first());
    expect(kept.size_bytes).to.equal(bytesOf(answers[0]).length);
    const stat = await objects.stat('foyer-artwork-cache', `${row.sha256}/960x1440-q80.webp`);
    expect(stat?.size).to.equal(kept.size_bytes);
  });

  it('serves pictures in memory while the store is unavailable, and 503 with Retry-After for others', async () => {
    await get({ width: 240, format: 'webp' });
    const { objects } = gallery.api.deps;
    const read = objects.get.bind(objects);
    const { ObjectsUnavailable } = await import('#platform/objects.ts');
    objects.get = () => Promise.reject(new ObjectsUnavailable('gone'));
    try {
      expect((await get({ width: 240, format: 'webp' })).status).to.equal(200);
      const refused = await get({ width: 240, format: 'webp', quality: 45 });
      expect(refused.status).to.equal(503);
      expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
      expect(errorIn(refused).details.waitingFor).to.equal('objects');
    } finally {
      objects.get = read;
    }
  });

  it('removes metadata and converts to sRGB; the original only goes to those who edit', async () => {
    const bytes = await sharp(await painted(300, 450, '#20c040'))
      .withExif({ IFD0: { Copyright: 'A secret' }, IFD3: { GPSLatitude: '48/1 0/1 0/1' } })
      .withIccProfile('p3')
      .jpeg()
      .toBuffer();
    const other = await gallery.upload(await gallery.film(), { bytes });
    const served = await gallery.member.getImage({ params: { id: other.id }, query: { format: 'jpeg' } });
    expect(await facts(served.body)).to.include({ exif: undefined, icc: false });
    const query = { format: 'original' };
    const refused = await gallery.member.getImage({ params: { id: other.id }, query });
    expect([refused.status, errorIn(refused).details.permission]).to.deep.equal([403, 'item:edit']);
    const original = await gallery.admin.getImage({ params: { id: other.id }, query });
    expect(Buffer.compare(original.body as never, bytes)).to.equal(0);
  });

  it('is 404 alike for an unknown image and for one of a hidden item', async () => {
    const { db } = gallery.api.deps;
    const hidden = await gallery.upload(await gallery.film({ age_years: 18 }));
    const child = gallery.api.as(await gallery.api.given.child());
    const shown = await child.getImage({ params: { id: poster.id }, query: { width: 48 } });
    expect(shown.status).to.equal(200);
    const answers = [
      await child.getImage({ params: { id: hidden.id } }),
      await child.getImage({ params: { id: ABSENT } }),
      await child.getImageInfo({ params: { id: hidden.id } }),
    ];
    for (const answer of answers) expect(answer.status).to.equal(404);
    await db('items').where({ id: film }).update({ trashed_at: new Date() });
    expect((await get({ width: 48 })).status).to.equal(404);
    await db('items').where({ id: film }).update({ trashed_at: null });
  });

  it('blurs, and shows a crop, a turn and the focus that a person set', async () => {
    const item = await gallery.film({ title: 'Turned' });
    const half = await painted(800, 400, '#ff0000'); // left is dark, right is red
    const { id, version } = await gallery.upload(item, { kind: 'backdrop', bytes: half });
    const change = async (body: object) => (await gallery.admin.updateImage({ params: { id }, body })).body;
    const pixel = async (query: Record<string, unknown>) => {
      const answer = await gallery.member.getImage({ params: { id }, query: { format: 'png', ...query } as never });
      const { data, info } = await sharp(answer.body as never)
        .raw()
        .toBuffer({ resolveWithObject: true });
      return { red: data[0] ?? 0, width: info.width, height: info.height };
    };
    const square = { width: 160, height: 160, fit: 'cover' };
    expect((await pixel(square)).red).to.be.lessThan(60);
    const focused = await change({ focus: { x: 1, y: 0.5 } });
    expect(focused.version).to.equal(String(Number(version) + 1));
    expect((await pixel(square)).red).to.be.greaterThan(200);
    expect(await change({ crop: { x: 0.5, y: 0, width: 0.5, height: 1 } })).to.include({ width: 400, height: 400 });
    expect(await pixel({})).to.include({ width: 400, height: 400 });
    expect((await pixel({})).red).to.be.greaterThan(200);
    expect(await change({ crop: null, rotate: 90 })).to.include({ width: 400, height: 800 });
    expect(await pixel({})).to.include({ width: 400, height: 800 });
    const undone = await change({ rotate: null, focus: null });
    expect(undone).to.include({ width: 800, height: 400 });
    expect(undone.focus).to.equal(undefined);
    const blurred = await pixel({ blur: 50, width: 160 });
    expect(blurred.red).to.be.greaterThan((await pixel({ width: 160 })).red);
    const listed = (await gallery.member.getItem({ params: { id: item } })).body.artwork.backdrop;
    expect(listed).to.include({ id, version: undone.version });
    const outside = await gallery.admin.updateImage({
      params: { id },
      body: { crop: { x: 0.6, y: 0, width: 0.5, height: 1 } },
    });
    expect(outside.status).to.equal(400);
    expect(errorOf(outside).code).to.equal('VALIDATION_FAILED');
  });

  it('gives the place of an account with many requests to others in turn', async () => {
    const { FairSlots } = await import('#areas/artwork/serving/fair.ts');
    const slots = new FairSlots(1);
    const order: string[] = [];
    const hold = Promise.withResolvers<void>();
    const first = slots.run('a', () => hold.promise);
    const work = (name: string) => slots.run(name[0] ?? '', async () => void order.push(name));
    const all = ['a1', 'a2', 'a3', 'b1', 'c1'].map(work);
    hold.resolve();
    await Promise.all([first, ...all]);
    expect(order).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'a3']);
  });
});
