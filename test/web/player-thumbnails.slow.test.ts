// The analyses of a film in the player: thumbnails over the seek bar, and the button that skips an opening.
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import type { Api } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { makePreviews } from '#workers/analysis/previews.ts';
import { addFilm, type GivenFilm, playing, shelf } from './support/films.ts';
import { openSignedIn, playsFrom } from './support/player.ts';
import { ownedServer } from './support/server.ts';

const SECONDS = 60;

describe('the player of an analysed film', function () {
  this.timeout(120_000);
  let api: Api;
  let film: GivenFilm;

  beforeEach(() => api.deps.redis.flushdb()); // ten sign-ins a minute are the limit
  before(async () => {
    api = await ownedServer();
    const films = await shelf(api);
    film = await addFilm(api, films, { name: 'analysed.mp4', title: 'Analysed', seconds: SECONDS });
    const admin = api.as(await api.given.admin());
    const { body } = await admin.analyzeLibrary({ params: { id: films.library.id } });
    expect(body.queued).to.include({ previewThumbnails: 1 });
    const signal = new AbortController().signal;
    const work = { ...api.deps, jobId: newId(), attempt: 1, signal, checkpoint: null, emit, enqueue };
    const quiet = { keep: async () => undefined, report: async () => undefined };
    await makePreviews({ libraryId: films.library.id }, { ...work, ...quiet });
    expect((await admin.getTrickplay({ params: { fileId: film.fileId } })).body.widths).to.have.length(1);
    const markers = [
      { kind: 'intro', startMs: 2000, endMs: 40_000 },
      { kind: 'commercial', startMs: 40_000, endMs: 54_000 },
    ];
    await admin.setItemMarkers({ params: { id: film.itemId }, body: { fileId: film.fileId, markers } });
  });

  it('shows the thumbnail of the place under the pointer', async () => {
    const app = await openSignedIn(api.url, `/play/${film.itemId}`);
    await playsFrom(app, 0.2);
    const box = await app.page.getByRole('slider', { name: 'Position' }).boundingBox();
    if (!box) throw new Error('there is no seek bar');
    const hover = async (share: number): Promise<string> => {
      await app.page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
      const thumbnail = app.page.locator('[data-thumbnail]');
      await eventually(async () => (await thumbnail.getAttribute('data-thumbnail')) !== '');
      expect(await thumbnail.getAttribute('data-thumbnail')).to.equal(
        `/api/v1/files/${film.fileId}/trickplay/320-0.webp`,
      );
      return app.page.evaluate(`getComputedStyle(document.querySelector('[data-thumbnail]')).backgroundPosition`);
    };
    // six thumbnails in a row
    expect(await hover(0.5)).to.equal('60% 0%');
    expect(await hover(0.01)).to.equal('0% 0%');
    await app.close();
  });

  it('offers to skip the opening and a commercial break, and does', async () => {
    const app = await openSignedIn(api.url, `/play/${film.itemId}?t=5`);
    await playsFrom(app, 5.2);
    await app.page.getByRole('button', { name: 'Skip intro' }).click();
    await eventually(async () => (await playing(app.page)).at >= 40);
    await app.page.getByRole('button', { name: 'Skip commercials' }).click();
    await eventually(async () => (await playing(app.page)).at >= 54);
    await app.close();
  });
});
