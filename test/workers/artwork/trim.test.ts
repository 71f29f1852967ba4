import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { announceSettings, saveSettings } from '#platform/settings.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { trimArtwork } from '#workers/artwork/trim.ts';
import { newPlace, type Place } from '../scan/support.ts';

const MEBIBYTE = 1 << 20;
const GIBIBYTE = 1 << 30;

describe('artwork.trim', () => {
  let place: Place;
  before(async () => {
    place = await newPlace('movies');
  });
  const hash = (letter: string): string => letter.repeat(64);
  const add = async (sha256: string, name: string, { days = 0, bytes = MEBIBYTE } = {}) => {
    const { db, objects } = place.api.deps;
    await objects.put('foyer-artwork-cache', `${sha256}/${name}`, Buffer.alloc(10));
    const used = { used_at: new Date(Date.now() - days * 86_400_000) };
    await db('image_variants').insert({ sha256, name, size_bytes: bytes, ...used });
  };
  const left = async () =>
    (await place.api.deps.db('image_variants').orderBy(['sha256', 'name']).pluck('name')) as string[];
  const isStored = async (key: string) => (await place.api.deps.objects.stat('foyer-artwork-cache', key)) !== undefined;

  it('deletes sizes that no one used for 30 days, and previews that ended', async () => {
    await add(hash('a'), 'old.webp', { days: 31 });
    await add(hash('a'), 'new.webp', { days: 29 });
    const { db } = place.api.deps;
    const library = await givenLibrary(db, 'movies');
    const row = {
      ...{ kind: 'still', owner_kind: 'item', owner_id: await givenItem(db, library), source: 'frame', sha256: 'x' },
      ...{ mime: 'image/jpeg', size_bytes: 1, width: 1, height: 1, blurhash: '', dominant: '#000000' },
    };
    const [ended, living] = [newId(), newId()];
    await db('images').insert({ ...row, id: ended, expires_at: new Date(Date.now() - 1000) });
    await db('images').insert({ ...row, id: living, expires_at: new Date(Date.now() + 60_000) });
    expect(await trimArtwork({}, place.work())).to.deep.equal({ removed: 1 });
    expect(await left()).to.deep.equal(['new.webp']);
    expect([await isStored(`${hash('a')}/old.webp`), await isStored(`${hash('a')}/new.webp`)]).to.deep.equal([
      false,
      true,
    ]);
    expect(await db('images').whereIn('id', [ended, living]).pluck('id')).to.deep.equal([living]);
  });

  it('keeps the latest used ones within artwork.cacheBytes', async () => {
    const { db, redis, settings } = place.api.deps;
    await db('image_variants').delete();
    for (const days of [1, 2, 3, 4]) await add(hash('b'), `${days}.webp`, { days, bytes: GIBIBYTE });
    await saveSettings(db, { 'artwork.cacheBytes': 2 * GIBIBYTE }, null);
    await announceSettings(redis);
    await eventually(async () => settings.get('artwork.cacheBytes') === 2 * GIBIBYTE);
    expect((await trimArtwork({}, place.work())).removed).to.equal(2);
    expect(await left()).to.deep.equal(['1.webp', '2.webp']);
  });

  it('deletes objects without a row once they are a day old', async () => {
    const { objects } = place.api.deps;
    const old = new Date(Date.now() - 48 * 3_600_000);
    for (const name of ['stray.webp', 'young.webp'])
      await objects.put('foyer-artwork-cache', `${hash('c')}/${name}`, Buffer.alloc(10));
    const root = new URL(place.api.config.objectsUrl).pathname;
    utimesSync(join(root, 'foyer-artwork-cache', hash('c'), 'stray.webp'), old, old);
    expect((await trimArtwork({}, place.work())).removed).to.equal(1);
    expect([await isStored(`${hash('c')}/stray.webp`), await isStored(`${hash('c')}/young.webp`)]).to.deep.equal([
      false,
      true,
    ]);
  });
});
