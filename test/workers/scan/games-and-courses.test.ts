import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { newPlace, type Place } from './support.ts';

/** Files whose content is their path, last changed an hour ago. */
async function write(place: Place, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const path = join(place.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, path);
    const old = new Date(Date.now() - 3_600_000);
    await utimes(path, old, old);
  }
}

describe('library.scan of games', function () {
  this.timeout(60_000);

  it('makes a game of each title and platform, with its regions and discs', async () => {
    const place = await newPlace('games');
    await write(place, [
      'SNES/Chrono Trigger (USA).sfc',
      'SNES/Chrono Trigger (Europe) (Rev 1).sfc',
      'Nintendo - Game Boy/Tetris (World).zip',
      'PlayStation/Riven (Disc 1).cue',
      'PlayStation/Riven (Disc 1).bin',
      'PlayStation/Riven (Disc 2).cue',
      'PlayStation/Riven (Disc 2).bin',
      'loose/Super Mario Land.gb',
      'loose/unknown.zip',
      'SNES/notes.txt',
    ]);
    await place.age();
    const scan = await place.scan();
    expect(scan.issues.map(({ kind, path }) => [kind, path.split('/').slice(1).join('/')])).to.deep.equal([
      ['unrecognised-name', 'loose/unknown.zip'],
    ]);
    const { db } = place.api.deps;
    const games = await db('items').where({ library_id: place.libraryId }).orderBy('title');
    expect(
      games.map(({ type, title, details, file_count: files }) => [type, title, details.platform, files]),
    ).to.deep.equal([
      ['game', 'Chrono Trigger', 'Super Nintendo', 2],
      ['game', 'Riven', 'PlayStation', 2],
      ['game', 'Super Mario Land', 'Game Boy', 1],
      ['game', 'Tetris', 'Game Boy', 1],
    ]);
    const files = await place.files();
    expect(files.map(({ edition, part }) => [edition, part])).to.deep.equal([
      ['World', null],
      [null, 1],
      [null, 2],
      ['Europe, Rev 1', null],
      ['USA', null],
      [null, null],
    ]);
    expect((await place.scan()).counts).to.include({ probed: 0, added: 0, updated: 0 });
  });
});

describe('library.scan of courses', function () {
  this.timeout(60_000);

  it('makes a course of each folder, with sections and lessons in the order of their numbers', async () => {
    const place = await newPlace('courses');
    await place.put('Learn Go/01 - Basics/01 Hello.mkv');
    await place.put('Learn Go/01 - Basics/02 Types.mp4', 'h264-aac.mp4');
    await place.put('Learn Go/01 - Basics/01 Hello.en.srt', 'en.srt');
    await place.put('Learn Go/02 - More/Deep/10. Last.mkv', 'h264-base.mkv');
    await write(place, [
      'Learn Go/02 - More/Deep/9. Before.pdf',
      'Learn Go/02 - More/Deep/code.tar',
      'One/Only.md',
      'stray.md',
    ]);
    await place.age();
    const scan = await place.scan();
    expect(scan.issues.map(({ kind }) => kind)).to.deep.equal(['unrecognised-name']);
    const { db } = place.api.deps;
    const lessons = await db('items as l')
      .join('items as s', 's.id', 'l.parent_id')
      .join('items as c', 'c.id', 'l.grandparent_id')
      .where({ 'l.library_id': place.libraryId, 'l.type': 'lesson' })
      .orderBy(['c.title', 's.index_number', 'l.index_number'])
      .select(
        'c.title as course',
        's.title as section',
        's.index_number as number',
        'l.title',
        'l.index_number',
        'l.runtime_ms',
      );
    expect(
      lessons.map((row) => [row.course, row.number, row.section, row.index_number, row.title, row.runtime_ms !== null]),
    ).to.deep.equal([
      ['Learn Go', 1, 'Basics', 1, 'Hello', true],
      ['Learn Go', 1, 'Basics', 2, 'Types', true],
      ['Learn Go', 2, 'More / Deep', 9, 'Before', false],
      ['Learn Go', 2, 'More / Deep', 10, 'Last', true],
      ['One', 0, 'One', null, 'Only', false],
    ]);
    const tracks = await db('media_streams as s')
      .join('media_files as f', 'f.id', 's.file_id')
      .where({ 'f.library_id': place.libraryId, 's.kind': 'subtitle' })
      .whereNotNull('s.external_path')
      .select('s.language');
    expect(tracks).to.deep.equal([{ language: 'en' }]);
    expect((await place.scan()).counts).to.include({ probed: 0, added: 0, updated: 0 });
  });
});
