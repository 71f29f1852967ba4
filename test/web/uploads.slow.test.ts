import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import sharp from 'sharp';
import type { Api } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { newUploadPlace, type UploadPlace } from '../workers/uploads/support.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

const photo = (): Promise<Buffer> =>
  sharp(randomBytes(30 * 20 * 3), { raw: { width: 30, height: 20, channels: 3 } })
    .jpeg()
    .toBuffer();

describe('the upload page', function () {
  this.timeout(120_000);
  let api: Api;
  let place: UploadPlace;
  before(async () => {
    api = await ownedServer();
    place = await newUploadPlace(api);
  });

  it('sends files in chunks and says what became of each', async () => {
    const app = await openApp(api.url, `/library/${place.libraryId}`, { storageState: await signedIn(api) });
    const { page } = app;
    await page.getByRole('link', { name: 'Upload' }).click();
    await page.getByRole('heading', { name: 'Upload' }).waitFor();
    const bytes = await photo();
    const large = Buffer.concat([await photo(), randomBytes(9 << 20)]);
    await page.locator('input[type=file]').setInputFiles([
      { name: 'one.jpg', mimeType: 'image/jpeg', buffer: bytes },
      { name: 'large.jpg', mimeType: 'image/jpeg', buffer: large },
      { name: 'tool.exe', mimeType: 'application/x-msdownload', buffer: Buffer.from('MZ') },
    ]);
    const row = (name: string) => page.locator('li', { hasText: name });
    await row('tool.exe').getByText('this format is not supported').waitFor();
    await row('one.jpg').getByText('Checking').waitFor();
    await row('large.jpg').getByText('Checking').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    const rows = await api.deps
      .db('uploads')
      .where({ library_id: place.libraryId })
      .select('id', 'chunk_count', 'name');
    expect(rows.find(({ name }) => name === 'large.jpg')?.chunk_count).to.equal(2);
    for (const { id } of rows) await place.finish(id);
    await row('one.jpg').getByText('In the library').waitFor();
    await row('one.jpg').getByRole('link', { name: 'one.jpg' }).waitFor();
    await page.getByRole('button', { name: 'Clear the list' }).click();
    await page.locator('input[type=file]').setInputFiles({ name: 'again.jpg', mimeType: 'image/jpeg', buffer: bytes });
    await row('again.jpg').getByText('Already in the library').waitFor();
    await app.close();
  });

  it('goes on by itself after the line was cut, without sending a stored chunk again', async () => {
    const app = await openApp(api.url, `/uploads?library=${place.libraryId}`, { storageState: await signedIn(api) });
    const { page } = app;
    app.expectFault(/ERR_CONNECTION_RESET/);
    let sent = 0;
    const answers: (number | undefined)[] = [];
    page.on('requestfinished', async (request) => {
      if (/uploads\/.*\/chunks\//.test(request.url())) answers.push((await request.response())?.status());
    });
    await page.route('**/uploads/*/chunks/*', async (route) => {
      sent += 1;
      if (sent === 2) return route.abort('connectionreset');
      await route.continue();
    });
    const buffer = Buffer.concat([await photo(), randomBytes(17 << 20)]);
    await page.locator('input[type=file]').setInputFiles({ name: 'cut.jpg', mimeType: 'image/jpeg', buffer });
    await page.locator('li', { hasText: 'cut.jpg' }).getByText('Checking').waitFor();
    expect(sent).to.equal(4);
    expect(answers).to.deep.equal([200, 200, 200]);
    await eventually(async () => {
      const row = await api.deps.db('uploads').where({ name: 'cut.jpg' }).first('state');
      return row?.state === 'verifying';
    });
    await app.close();
  });
});
