import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { errorOf } from '#support/answers.ts';
import type { Api, TestClient } from '#support/api.ts';
import { newPlace, type Place } from '../../workers/scan/support.ts';

/** Opens the bytes of a film without prepared data. */
const READS: Readonly<Record<string, (me: TestClient, film: Film) => Promise<{ status: number; body: unknown }>>> = {
  streamFile: (me, { fileId }) => me.streamFile({ params: { fileId } }),
  'streamFile of a range': (me, { fileId }) => me.streamFile({ params: { fileId }, headers: { range: 'bytes=0-9' } }),
  downloadFile: (me, { fileId }) => me.downloadFile({ params: { fileId } }),
  'startPlayback of a file as it is': (me, { id }) =>
    me.startPlayback({ params: { id }, body: { client: { builtIn: 'chromium' } } }),
  'startPlayback of a transcode': (me, { id }) =>
    me.startPlayback({ params: { id }, body: { client: { builtIn: 'hls' }, allow: NOTHING_AS_IT_IS } }),
  'startPlayback of a named file': (me, { id, fileId }) =>
    me.startPlayback({ params: { id }, body: { client: { builtIn: 'hls' }, fileId } }),
  'getSubtitleFile of an adjacent file': (me, { id }) =>
    me.getSubtitleFile({ params: { id, file: 'Heat (1995).en.srt' } }),
  'getSubtitleFile inside it': (me, { id }) => me.getSubtitleFile({ params: { id, file: '4' } }),
  listItemFonts: (me, { id }) => me.listItemFonts({ params: { id } }),
};

/** A refusal, of an operation that sends bytes too. */
const NOTHING_AS_IT_IS = { directPlay: false, directStream: false };

interface Film {
  id: string;
  fileId: string;
}

describe('reads of a storage', function () {
  this.timeout(60_000);
  let place: Place;
  let api: Api;
  let film: Film;
  let path: string;
  let me: TestClient;
  let manager: TestClient;

  before(async () => {
    place = await newPlace('movies');
    ({ api } = place);
    await place.put('Heat (1995)/Heat (1995).mkv', 'h264-multi.mkv');
    await place.put('Heat (1995)/Heat (1995).en.srt', 'en.srt');
    path = join(place.path, 'Heat (1995)/Heat (1995).mkv');
    await place.scan();
    const [file] = await place.files();
    film = { id: file?.item_id ?? '', fileId: file?.id ?? '' };
    me = api.as(await api.given.member());
    manager = api.as(await api.given.admin());
  });

  const transcode = async (): Promise<string> => {
    const { body } = await me.startPlayback({
      params: { id: film.id },
      body: { client: { builtIn: 'hls' }, allow: NOTHING_AS_IT_IS },
    });
    return /stream\/([^/]+)\//.exec(body.session?.url ?? '')?.[1] ?? '';
  };

  const storage = (row: object) => api.deps.db('storages').where({ id: api.given.storageId }).update(row);

  /** Unavailable for the time of a test. */
  const states: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
    'a folder that does not answer': async () => {
      const folder = (unavailable: boolean) =>
        api.deps.db('library_folders').where({ id: place.folderId }).update({ away: unavailable });
      await folder(true);
      return () => folder(false);
    },
    unavailable: async () => {
      await storage({ state: 'unavailable' });
      return () => storage({ state: 'available' });
    },
    disabled: async () => {
      await storage({ enabled: false });
      return () => storage({ enabled: true });
    },
    'suspect with other bytes under its paths': async () => {
      await storage({ state: 'suspect' });
      const [own, { mtime }] = [await readFile(path), await stat(path)];
      await writeFile(path, await readFile(join(place.made, 'h264-base.mkv')));
      const text = join(place.path, 'Heat (1995)/Heat (1995).en.srt');
      const words = await readFile(text);
      const time = (await stat(text)).mtime;
      await writeFile(text, 'somebody else');
      return async () => {
        await writeFile(path, own);
        await utimes(path, mtime, mtime);
        await writeFile(text, words);
        await utimes(text, time, time);
        await storage({ state: 'available' });
      };
    },
    'gone before any check': async () => {
      await rename(api.mediaRoot, `${api.mediaRoot}-unmounted`);
      return () => rename(`${api.mediaRoot}-unmounted`, api.mediaRoot);
    },
    'unmounted before any check': async () => {
      await rename(api.mediaRoot, `${api.mediaRoot}-unmounted`);
      await mkdir(api.mediaRoot);
      return async () => {
        await rm(api.mediaRoot, { recursive: true });
        await rename(`${api.mediaRoot}-unmounted`, api.mediaRoot);
      };
    },
    'there while the folder of the library is not': async () => {
      await rename(place.path, `${place.path}-unmounted`);
      return () => rename(`${place.path}-unmounted`, place.path);
    },
  };

  for (const [state, begin] of Object.entries(states))
    for (const [name, read] of Object.entries(READS))
      it(`are 423 for ${name} when it is ${state}`, async () => {
        const end = await begin();
        try {
          const answer = await read(me, film);
          expect([answer.status, errorOf(answer).code]).to.deep.equal([423, 'STORAGE_UNAVAILABLE']);
          expect(errorOf(answer).details, 'where it lies is not for everybody').to.deep.equal({});
          expect(errorOf(await read(manager, film)).details).to.include({ storageId: api.given.storageId });
        } finally {
          await end();
        }
      });

  for (const [state, begin] of Object.entries(states))
    it(`are 423 for the segments of a transcode that began before it was ${state}`, async () => {
      const id = await transcode();
      const end = await begin();
      try {
        const answer = await me.getStreamSegment({ params: { id, rendition: 'v0', segment: '0.m4s' } });
        expect([answer.status, errorOf(answer).code]).to.deep.equal([423, 'STORAGE_UNAVAILABLE']);
      } finally {
        await end();
      }
    });

  it('give the file of a suspect one that has the size and time of its row', async () => {
    await storage({ state: 'suspect' });
    const answer = await me.streamFile({ params: { fileId: film.fileId }, headers: { range: 'bytes=0-9' } });
    const played = await me.startPlayback({ params: { id: film.id }, body: { client: { builtIn: 'chromium' } } });
    const text = await me.getSubtitleFile({ params: { id: film.id, file: 'Heat (1995).en.srt' } });
    await storage({ state: 'available' });
    expect([answer.status, played.status, text.status]).to.deep.equal([206, 201, 200]);
  });

  it('are 415 when only the file is gone', async () => {
    await rename(path, `${path}.away`);
    const answer = await me.streamFile({ params: { fileId: film.fileId } });
    await rename(`${path}.away`, path);
    expect([answer.status, errorOf(answer).details.reason]).to.deep.equal([415, 'missing-file']);
  });
});
