import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { writeTrack } from '#support/music-files.ts';
import { eventually } from '#support/stores.ts';
import { zipOf } from '#support/zip-files.ts';
import { fixtures } from '../../hack/fixtures/index.ts';
import { newPicturedPlace, type PicturedPlace, painted } from '../workers/artwork/support.ts';
import { violations } from './support/axe.ts';
import { playing } from './support/films.ts';
import type { AppPage } from './support/page.ts';
import { openSignedIn } from './support/player.ts';
import { ownedServer } from './support/server.ts';

describe('libraries of every type in a browser', function () {
  this.timeout(180_000);
  let api: Api;
  let app: AppPage;
  const places: Record<string, PicturedPlace> = {};

  async function made(type: string, fill: (place: PicturedPlace) => Promise<void>): Promise<void> {
    const place = await newPicturedPlace(type, api);
    places[type] = place;
    await fill(place);
    await place.show();
    await place.fetch();
  }
  before(async () => {
    api = await ownedServer();
    const { made: files, real } = await fixtures();
    await made('music', async (place) => {
      for (const [n, title] of ['Opening', 'Second', 'Third'].entries())
        await writeTrack(
          join(place.path, `Ada/Album/${n}.mp3`),
          { TALB: 'Album', TPE1: 'Ada', TIT2: title, TRCK: String(n + 1) },
          await painted(500, 500, '#c04020'),
        );
    });
    await made('photos', async (place) => {
      for (const name of ['obama.jpg', 'rocket.jpg', 'chelsea.png']) {
        await mkdir(join(place.path, 'Trip'), { recursive: true });
        await copyFile(join(real, 'photos', name), join(place.path, 'Trip', name));
      }
    });
    await made('books', async (place) =>
      copyFile(join(real, 'books/developers-reference.pdf'), join(place.path, 'Reference.pdf')),
    );
    await made('comics', async (place) =>
      place.write('Saga 1.cbz', zipOf({ 'p1.jpg': await painted(600, 900, '#2040c0') })),
    );
    await made('games', async (place) => place.write('SNES/Quest (USA).sfc', Buffer.from('a rom')));
    await made('courses', async (place) => {
      await mkdir(join(place.path, 'Go/1 Basics'), { recursive: true });
      await copyFile(join(files, 'h264-aac.mp4'), join(place.path, 'Go/1 Basics/1 Hello.mp4'));
    });
    app = await openSignedIn(api.url, '/');
  });
  after(() => app?.close());

  const idOf = async (type: string, title: string): Promise<string> => {
    const { db } = api.deps;
    const item = await db('items')
      .where({ library_id: places[type]?.libraryId ?? '', title })
      .first('id');
    return item?.id ?? '';
  };
  const sees = (text: string) => eventually(async () => (await app.page.textContent('main'))?.includes(text), 20_000);
  const open = async (type: string, title: string): Promise<void> => {
    await app.page.goto(`${api.url}/item/${await idOf(type, title)}`);
    await sees(title);
  };

  for (const [type, title] of [
    ['music', 'Album'],
    ['photos', 'rocket'],
    ['books', "Debian Developer's Reference"],
    ['comics', 'Saga'],
    ['games', 'Quest'],
    ['courses', 'Go'],
  ] as const) {
    it(`shows a library of ${type} with its pictures, and a page that has no fault`, async () => {
      await app.page.goto(`${api.url}/library/${places[type]?.libraryId}`);
      await sees(title);
      await open(type, title);
      expect(await violations(app.page)).to.deep.equal([]);
    });
  }

  it('plays an album from its first track', async () => {
    await open('music', 'Album');
    await sees('Opening');
    await app.page.click('.play a');
    await eventually(async () => (await playing(app.page)).at > 0.2, 20_000);
  });

  it('opens a photo as large as the window, and a book as its file', async () => {
    await open('photos', 'rocket');
    const width = await eventually(
      async () => app.page.evaluate<number>(`document.querySelector('.photo img')?.getBoundingClientRect().width ?? 0`),
      20_000,
    );
    expect(width).to.be.greaterThan(500);
    await open('books', "Debian Developer's Reference");
    const href = await app.page.getAttribute('.play a', 'href');
    const answer = await app.page.request.get(`${api.url}${href}`);
    expect([answer.status(), (await answer.body()).subarray(0, 5).toString()]).to.deep.equal([200, '%PDF-']);
  });
});
