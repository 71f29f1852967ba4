import { createHash } from 'node:crypto';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Bucket } from '#platform/objects.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { png } from '#support/pictures.ts';
import { sweepObjects } from '#workers/objects-sweep.ts';
import { FinalFailure, type Work } from '#workers/work.ts';

const DAY_MS = 86_400_000;

describe('objects.sweep', () => {
  let api: Api;
  beforeEach(async () => {
    api = await startApi();
    await api.deps.objects.prepare(['foyer-artwork', 'foyer-subtitles']);
  });

  const put = (bucket: Bucket, key: string): Promise<void> => api.deps.objects.put(bucket, key, Buffer.from(key));
  const keys = async (bucket: Bucket): Promise<string[]> => {
    const found = await Array.fromAsync(api.deps.objects.list(bucket, ''));
    return found.map(({ key }) => key).sort();
  };
  const age = async (bucket: Bucket, days: number): Promise<void> => {
    const at = new Date(Date.now() - days * DAY_MS);
    for (const key of await keys(bucket))
      utimesSync(join(new URL(api.config.objectsUrl).pathname, bucket, key), at, at);
  };
  const sweep = (): Promise<void> =>
    sweepObjects({}, { ...api.deps, signal: new AbortController().signal } as unknown as Work);
  const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

  it('takes pictures that no row has named for a week, and no other', async () => {
    const owner = await api.given.owner();
    const me = api.as(owner);
    const { profile } = (await me.getMe()).body;
    const given = { params: { id: profile.id }, body: await png(), headers: { 'content-type': 'image/png' } };
    expect((await me.setProfileAvatar(given)).status).to.equal(200);
    const [avatar = ''] = await keys('foyer-artwork');
    await put('foyer-artwork', hashOf('nobody'));
    await put('foyer-artwork', 'branding/of-another-sweep');
    await age('foyer-artwork', 6);
    await sweep();
    expect(await keys('foyer-artwork')).to.have.length(3);
    await age('foyer-artwork', 8);
    await put('foyer-artwork', hashOf('new'));
    await sweep();
    expect(await keys('foyer-artwork')).to.have.members([avatar, 'branding/of-another-sweep', hashOf('new')]);
  });

  it('takes texts and fonts of files that are gone', async () => {
    const { db } = api.deps;
    const library = await givenLibrary(db, 'movies');
    const item = await givenItem(db, library, { title: 'Film', top: true });
    const file = await givenFile(db, library, item);
    const gone = ABSENT;
    for (const id of [file, gone]) {
      await put('foyer-subtitles', `tracks/${id}/1/2.txt`);
      await put('foyer-subtitles', `fonts/${id}/1/list.json`);
    }
    await age('foyer-subtitles', 8);
    await sweep();
    expect(await keys('foyer-subtitles')).to.deep.equal([`fonts/${file}/1/list.json`, `tracks/${file}/1/2.txt`]);
  });

  it('takes nothing when a lost table would empty a bucket', async () => {
    for (let i = 0; i < 30; i++) await put('foyer-artwork', hashOf(`picture ${i}`));
    await age('foyer-artwork', 30);
    const stopped = await sweep().catch((error: unknown) => error);
    expect(stopped).to.be.instanceOf(FinalFailure).and.have.property('code', 'guard');
    expect(await keys('foyer-artwork')).to.have.length(30);
  });
});
