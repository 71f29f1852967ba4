import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newPlace } from './support.ts';

describe('issues of a scan', function () {
  this.timeout(120_000);

  it('report paths that are too long to keep, and all files next to them are taken', async () => {
    const place = await newPlace('movies');
    const deep = Array.from({ length: 9 }, (_, i) => `${i}${'ü'.repeat(110)}`).join('/'); // 221 bytes each
    await place.put('Up (2009)/Up (2009).mkv');
    await mkdir(join(place.path, deep), { recursive: true });
    await writeFile(join(place.path, deep, 'It (2017).mkv'), 'x');
    const scan = await place.scan();
    expect(scan.issues.map(({ kind }) => kind)).to.deep.equal(['too-long-path']);
    expect((await place.items()).map(({ title }) => title)).to.deep.equal(['Up']);
  });

  it('report names that are written alike and are other bytes, of which both are taken', async () => {
    const place = await newPlace('movies');
    await place.put('Amélie (2001)/Amélie (2001).mkv'.normalize('NFC'));
    await place.put('Amélie (2001)/Amélie (2001).mkv'.normalize('NFD'));
    await place.put('Up (2009)/Up (2009).mkv');
    const scan = await place.scan();
    expect(scan.issues.map(({ kind, path }) => [kind, path.split('/').at(-1)?.normalize('NFC')])).to.deep.equal([
      ['name-conflict', 'Amélie (2001)'],
    ]);
    expect(await place.files()).to.have.length(3);
    expect((await place.scan()).issues).to.have.length(1);
  });

  it('report an invalid NFO file, and its film is taken by its name', async () => {
    const place = await newPlace('movies');
    await place.put('Up (2009)/Up (2009).mkv');
    await writeFile(
      join(place.path, 'Up (2009)/movie.nfo'),
      '<!DOCTYPE x [<!ENTITY a "b">]><movie><title>&a;</title></movie>',
    );
    const scan = await place.scan();
    expect(scan.issues.map(({ kind, path }) => [kind, path.split('/').slice(-2).join('/')])).to.deep.equal([
      ['bad-sidecar', 'Up (2009)/movie.nfo'],
    ]);
    expect((await place.items()).map(({ title, year }) => [title, year])).to.deep.equal([['Up', 2009]]);
  });
});

describe('local metadata', function () {
  this.timeout(120_000);

  it('forgets the values of a deleted NFO file, unless another folder of the film has one', async () => {
    const place = await newPlace('movies');
    await place.put('Sintel (2010)/Sintel (2010) - 720p.mkv');
    await place.put('Copies/Sintel (2010)/Sintel (2010) - 1080p.mkv', 'h264-allintra.mkv');
    const nfo = join(place.path, 'Sintel (2010)/movie.nfo');
    await writeFile(nfo, '<movie><plot>A dragon.</plot><mpaa>R</mpaa></movie>');
    await place.scan();
    const films = () => place.api.deps.db('items').where({ library_id: place.libraryId, extra_of: null });
    const described = async () => (await films()).map((film) => [film.overview, film.age_rating, film.file_count]);
    const isOne = (await films()).length === 1;
    expect(await described()).to.deep.include(['A dragon.', 'R', isOne ? 2 : 1]);
    await rm(join(place.path, 'Copies'), { recursive: true });
    await rm(nfo);
    await place.scan();
    expect((await described())[0]?.slice(0, 2)).to.deep.equal([null, null]);
  });
});
