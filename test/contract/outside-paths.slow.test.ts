// Paths and names that lead out of a folder, on every input that takes one.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { cleanName } from '#areas/uploads/public.ts';
import type { Answered, TestClient } from '#support/api.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { climbs } from '#support/inner-addresses.ts';
import { newUploadPlace, type UploadPlace } from '../workers/uploads/support.ts';

const SECRET = 'canary outside the media';

describe('paths that lead out', function () {
  this.timeout(600_000);
  let place: UploadPlace;
  let owner: TestClient;
  let headers: Record<string, string>;
  let outside: string[];
  const paths = climbs('secret.txt');

  /** `objects` is the store of the server. */
  const listed = (): string[] =>
    readdirSync(dirname(place.api.mediaRoot))
      .filter((name) => name !== 'objects')
      .sort();
  before(async () => {
    place = await newUploadPlace();
    const { mediaRoot, given } = place.api;
    const person = await given.owner();
    [owner, headers] = [place.api.as(person), person.headers];
    mkdirSync(`${mediaRoot}-private`, { recursive: true });
    for (const folder of [dirname(mediaRoot), `${mediaRoot}-private`])
      writeFileSync(join(folder, 'secret.txt'), SECRET);
    mkdirSync(join(mediaRoot, 'films'), { recursive: true });
    outside = listed();
  });
  afterEach(() => {
    expect(listed(), 'nothing was made outside').to.deep.equal(outside);
    expect(readFileSync(join(dirname(place.api.mediaRoot), 'secret.txt'), 'utf8')).to.equal(SECRET);
  });

  const shows = (answer: Answered): string => JSON.stringify(answer.body ?? null);

  /** Each path is refused, and no answer shows the canary. */
  async function expectRefused(call: (path: string) => Promise<Answered>): Promise<void> {
    for (const path of paths.filter((one) => one !== '.')) {
      await place.api.deps.redis.flushdb();
      const answer = await call(path);
      expect(answer.status, JSON.stringify(path)).to.be.within(400, 499);
      expect(shows(answer)).to.not.include(SECRET).and.not.include('root:x:');
    }
  }

  it('are at least 160', () => {
    expect(new Set(paths).size).to.be.at.least(160);
  });

  it('make no folder of a library', async () => {
    const storageId = place.api.given.storageId;
    const { id } = (await owner.createLibrary({ body: { name: 'Own', type: 'movies' } })).body;
    const folders = (path: string) => [{ storageId, path }];
    await expectRefused((path) =>
      owner.createLibrary({ body: { name: `New ${path}`.slice(0, 90), type: 'movies', folders: folders(path) } }),
    );
    await expectRefused((path) => owner.addLibraryFolders({ params: { id }, body: { folders: folders(path) } }));
  });

  it('list and open no file outside of a storage', async () => {
    const storageId = place.api.given.storageId;
    const calls: ((path: string) => Promise<Answered>)[] = [
      (path) => owner.listStorageEntries({ params: { id: storageId }, query: { path, kind: 'any' } }),
      (path) => owner.listHostEntries({ query: { root: 'media', path } }),
      (path) => owner.importSpinePack({ body: { storageId, path } }),
      (path) =>
        owner.createStorage({
          body: { name: `S ${path}`.slice(0, 60), kind: 'mount', settings: { root: 'media', path } },
        }),
    ];
    for (const call of calls)
      for (const path of paths.filter((one) => one !== '.')) {
        await place.api.deps.redis.flushdb();
        const answer = await call(path);
        const items = (answer.body as { items?: unknown[] } | undefined)?.items ?? [];
        if (answer.status >= 400) expect(answer.status, JSON.stringify(path)).to.be.below(500);
        else if (items.length > 0) expect(resolvesInside(path), JSON.stringify(path)).to.equal(true);
        expect(shows(answer)).to.not.include(SECRET).and.not.include('root:x:');
      }
  });

  /** `.` and `films/..` stay inside, and may be listed. */
  const resolvesInside = (path: string): boolean => join('/root', path).startsWith('/root') && !path.startsWith('/');

  it('are scanned by no target', async () => {
    const library = await givenLibrary(place.api.deps.db, 'movies');
    for (const path of paths) {
      const body = { targets: [{ folderId: library.folderId, path }] };
      const answer = await owner.startScan({ params: { id: library.id }, body });
      expect(answer.status, JSON.stringify(path)).to.be.oneOf([202, 400, 404, 409]);
    }
  });

  it('are the name of no uploaded file', async () => {
    const clean = paths.map((path) => cleanName(`${path}.jpg`)).filter((name) => name !== undefined);
    expect(clean.filter((name) => /[/\\\0]/.test(name) || ['.', '..'].includes(name))).to.deep.equal([]);
    const some = paths.filter((_path, at) => at % 8 === 0);
    for (const path of some) {
      const bytes = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.from(path)]);
      const [answer] = await place.announce([{ name: `${path}.jpg`, bytes }]).catch(() => []);
      if (answer?.upload) await place.chunk(answer.upload.id, 0, bytes);
      if (answer?.upload) await place.finish(answer.upload.id).catch(() => undefined);
    }
    for (const file of await place.tree()) expect(file).to.not.match(/(?:^|\/)\.\.(?:\/|$)/);
  });

  it('name no picture, thumbnail or file in an address', async () => {
    const library = await givenLibrary(place.api.deps.db, 'movies');
    const fileId = await givenFile(place.api.deps.db, library, await givenItem(place.api.deps.db, library));
    for (const path of paths.flatMap((one) => [encodeURIComponent(one.toWellFormed()), one.replaceAll(/[^!-~]/g, '')]))
      for (const at of [
        `/files/${fileId}/trickplay/${path}`,
        `/images/${path}`,
        `/branding/${path}/dark`,
        `/files/${path}/stream`,
      ]) {
        const { status, text } = await raw(`/api/v1${at}`);
        expect(status, at).to.be.within(300, 499);
        expect(text).to.not.include(SECRET).and.not.include('root:x:');
      }
  });

  /** As it is written: fetch() tidies paths. */
  const raw = (path: string): Promise<{ status: number; text: string }> =>
    new Promise((done, fail) => {
      const { hostname: host, port } = new URL(place.api.url);
      const sent = request({ host, port, path, headers }, (answer) => {
        let text = '';
        answer.setEncoding('latin1').on('data', (part: string) => {
          text += part;
        });
        answer.on('end', () => done({ status: answer.statusCode ?? 0, text }));
      });
      sent.on('error', fail).end();
    });
});
