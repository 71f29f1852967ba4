import { execFile } from 'node:child_process';
import { copyFile, mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import sharp from 'sharp';
import { fixtures } from '../../../hack/fixtures/index.ts';
import { newPlace, type Place } from './support.ts';

const OLD = new Date('2021-02-03T04:05:06Z');

async function age(path: string): Promise<void> {
  await utimes(path, OLD, OLD);
}

/** A JPEG of its own colour with these EXIF data. */
async function put(place: Place, name: string, exif: Record<string, Record<string, string>> = {}): Promise<void> {
  const path = join(place.path, name);
  await mkdir(dirname(path), { recursive: true });
  const colour = { r: name.length, g: name.charCodeAt(0) % 256, b: name.charCodeAt(4) % 256 };
  const picture = sharp({ create: { width: 60, height: 40, channels: 3, background: colour } });
  const orientation = Number(exif['IFD0']?.['Orientation'] ?? 1);
  await picture
    .withMetadata({ exif, orientation })
    .toFormat(/png$/i.test(name) ? 'png' : 'jpeg')
    .toFile(path);
  await age(path);
}

async function shown({ api, libraryId }: Place): Promise<unknown[]> {
  const rows = await api.deps
    .db('items as i')
    .leftJoin('items as a', 'a.id', 'i.parent_id')
    .where('i.library_id', libraryId)
    .whereIn('i.type', ['photo', 'video'])
    .orderBy('i.title')
    .select('i.type', 'i.title', 'a.title as album', 'i.taken_at', 'i.file_count', 'i.details');
  return rows.map((row) => [
    row.type,
    row.title,
    row.album,
    row.taken_at?.toISOString(),
    row.file_count,
    row.details.live ?? false,
  ]);
}

describe('library.scan of photos', function () {
  this.timeout(60_000);

  it('dates them by the camera, the name or the file, and joins RAW files and moving parts', async () => {
    const place = await newPlace('photos');
    const taken = {
      IFD2: { DateTimeOriginal: '2020:06:01 12:00:00', OffsetTimeOriginal: '+02:00', ISOSpeedRatings: '200' },
    };
    await put(place, 'Trip/A.jpg', {
      ...taken,
      IFD0: { Make: 'Canon', Model: 'EOS 5D', Orientation: '6' },
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '48/1 30/1 0/1', GPSLongitudeRef: 'W', GPSLongitude: '2/1 0/1 0/1' },
    });
    await put(place, 'Trip/IMG_20190708_091011.jpg');
    await put(place, 'Trip/old.png');
    await put(place, 'Trip/IMG_1.JPG');
    await put(place, 'Trip/IMG_1.dng');
    await promisify(execFile)('ffmpeg', [
      '-v',
      'error',
      '-f',
      'lavfi',
      '-i',
      'testsrc=d=2:s=64x48',
      join(place.path, 'Trip/IMG_1.MOV'),
    ]);
    await age(join(place.path, 'Trip/IMG_1.MOV'));
    await put(place, 'top.jpg', taken);
    await writeFile(join(place.path, 'broken.jpg'), 'no picture');
    await age(join(place.path, 'broken.jpg'));
    const scan = await place.scan();
    expect(scan.issues.map(({ kind, path }) => [kind, path.split('/').at(-1)])).to.deep.equal([
      ['corrupt', 'broken.jpg'],
    ]);
    expect(await shown(place)).to.deep.equal([
      ['photo', 'A', 'Trip', '2020-06-01T10:00:00.000Z', 1, false],
      ['photo', 'IMG_1', 'Trip', OLD.toISOString(), 3, true],
      ['photo', 'IMG_20190708_091011', 'Trip', '2019-07-08T09:10:11.000Z', 1, false],
      ['photo', 'old', 'Trip', OLD.toISOString(), 1, false],
      ['photo', 'top', null, '2020-06-01T10:00:00.000Z', 1, false],
    ]);
    const a = await place.api.deps.db('items').where({ library_id: place.libraryId, title: 'A' }).first();
    expect(a.details).to.deep.equal({
      aspect: 0.667,
      camera: 'Canon EOS 5D',
      exposure: { iso: 200 },
      place: { latitude: 48.5, longitude: -2 },
      takenOffsetMinutes: 120,
    });
    expect((await place.scan()).counts).to.include({ probed: 0, added: 0, updated: 0 });
  });

  it('reads real pictures', async () => {
    const place = await newPlace('photos');
    const { real } = await fixtures();
    for (const name of ['obama.jpg', 'rocket.jpg', 'chelsea.png']) {
      await copyFile(join(real, 'photos', name), join(place.path, name));
      await age(join(place.path, name));
    }
    expect((await place.scan()).issues).to.deep.equal([]);
    const obama = await place.api.deps.db('items').where({ library_id: place.libraryId, title: 'obama' }).first();
    expect(obama.taken_at.toISOString()).to.equal('2012-12-06T15:46:01.000Z');
    expect(obama.details).to.deep.include({ camera: 'Canon EOS 5D Mark III', lens: 'EF85mm f/1.2L USM', aspect: 0.8 });
    expect(obama.overview).to.contain('Barack Obama');
  });
});
