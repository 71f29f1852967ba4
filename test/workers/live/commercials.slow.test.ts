import { rename } from 'node:fs/promises';
import { expect } from 'chai';
import { saveSettings } from '#platform/settings.ts';
import { black, block, dark, programme, recording, scene, truth } from '#support/breaks.ts';
import { givenPlaying } from '#support/given-speech.ts';
import { findCommercials } from '#workers/live/commercials/commercials.ts';
import { Postponed } from '#workers/work.ts';
import { type AnalysedPlace, newAnalysedPlace } from '../analysis/support.ts';

const RECORDINGS = {
  'With a logo': truth([
    programme(110),
    block(15, 30, 12),
    programme(130),
    block(22, 8, 30),
    programme(95),
    block(30),
    programme(61),
  ]),
  'Without a logo': truth([scene(100), block(15, 30, 20), scene(120), block(10, 30, 15, 20), scene(80)]),
  'Without a break': truth([
    ...[programme(60), dark(0.4), programme(30), dark(0.4), programme(30), dark(0.4), programme(30), dark(3)],
    ...[programme(40), dark(40), programme(45), black(1), programme(60)],
  ]),
  'Dark and without a logo': truth([
    ...[
      scene(50),
      black(1),
      scene(17.3),
      black(0.5),
      scene(26.8),
      black(4),
      scene(13),
      black(12),
      scene(38),
      black(1),
      scene(50),
    ],
  ]),
};

describe('live.commercials', function () {
  this.timeout(600_000);
  let place: AnalysedPlace;
  const markers = async (title: string) =>
    place.api.deps
      .db('markers')
      .where({ file_id: await place.fileId(title) })
      .orderBy('start_ms');

  before(async () => {
    place = await newAnalysedPlace('livetv');
    for (const [title, { all }] of Object.entries(RECORDINGS)) await place.film(`${title}.mkv`, recording(all));
    await place.scan();
    await turn(true);
  });

  async function turn(on: boolean): Promise<void> {
    const { db, settings } = place.api.deps;
    await saveSettings(db, { 'dvr.detectCommercials': on }, null);
    await settings.reload();
  }

  it('finds the edges of nine in ten breaks within a second, and none inside a programme', async () => {
    let [near, edges] = [0, 0];
    for (const [title, { breaks }] of Object.entries(RECORDINGS)) {
      await findCommercials({ fileId: await place.fileId(title) }, place.work());
      const found = await markers(title);
      for (const one of found) {
        expect(one, title).to.include({ kind: 'commercial', source: 'recording' });
        const inside = breaks.some(([from, to]) => one.start_ms < to * 1000 && one.end_ms > from * 1000);
        expect(inside, `${title}: ${one.start_ms} to ${one.end_ms}`).to.equal(true);
      }
      for (const edge of breaks.flat()) {
        edges += 1;
        if (found.some((one) => [one.start_ms, one.end_ms].some((ms) => Math.abs(ms - edge * 1000) <= 1000))) near += 1;
      }
    }
    expect(edges).to.equal(10);
    expect(near).to.be.at.least(9);
  });

  it('makes way for those who watch, and goes on from its checkpoint', async () => {
    const { api } = place;
    const fileId = await place.fileId('With a logo');
    const me = await api.given.member();
    const itemId = (await place.items()).find(({ title }) => title === 'With a logo')?.id ?? '';
    const watched = await givenPlaying(api.deps.db, me, { itemId, fileId, libraryId: place.libraryId });
    const before = await markers('With a logo');
    const kept: unknown[] = [];
    const work = { ...place.work(), keep: async (_: unknown, checkpoint: unknown) => void kept.push(checkpoint) };
    const streaming = (state: string) => api.deps.db('playback_sessions').where({ id: watched }).update({ state });
    const refusal = await findCommercials({ fileId }, work).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(Postponed);
    expect(kept).to.deep.equal([]);
    await streaming('paused');
    await findCommercials({ fileId }, work);
    expect(kept).to.have.lengthOf(2);
    const again: unknown[] = [];
    const resumed = { ...work, checkpoint: kept[0], keep: async (_: unknown, one: unknown) => void again.push(one) };
    await findCommercials({ fileId }, resumed);
    expect(again).to.deep.equal(kept.slice(1));
    const after = await markers('With a logo');
    expect(after.map(({ start_ms: start, end_ms: end }) => [start, end])).to.deep.equal(
      before.map(({ start_ms: start, end_ms: end }) => [start, end]),
    );
  });

  it('finds nothing out about a recording whose storage goes in the meantime, and ends when it is switched off', async () => {
    const { path } = place;
    const fileId = await place.fileId('With a logo');
    const kept: unknown[] = [];
    const keep = async (_: unknown, checkpoint: unknown): Promise<void> => {
      kept.push(checkpoint);
      await rename(path, `${path}-aside`); // an unmounted mount
    };
    const before = await markers('With a logo');
    const lost = await findCommercials({ fileId }, { ...place.work(), keep }).catch((error: unknown) => error);
    await rename(`${path}-aside`, path);
    expect(lost).to.be.instanceOf(Postponed).and.include({ waitsFor: 'storage' });
    expect(kept).to.have.lengthOf(1);
    await turn(false);
    expect(await findCommercials({ fileId }, { ...place.work(), checkpoint: kept[0] })).to.deep.equal({});
    await turn(true);
    const found = await findCommercials({ fileId }, { ...place.work(), checkpoint: kept[0] });
    expect(found).to.deep.equal({ breaks: before.length });
  });

  it('leaves a file whose markers a person locked, and a break of theirs', async () => {
    const { db } = place.api.deps;
    const fileId = await place.fileId('With a logo');
    const [first] = await markers('With a logo');
    await db('markers')
      .where({ id: first?.id })
      .update({ source: 'person', end_ms: (first?.end_ms ?? 0) - 5000 });
    await findCommercials({ fileId }, place.work());
    const found = await markers('With a logo');
    expect(found.map(({ source }) => source)).to.deep.equal(['person', 'recording', 'recording']);
    await db('markers').where({ file_id: fileId, source: 'recording' }).delete();
    await db('media_files').where({ id: fileId }).update({ markers_locked: true });
    await findCommercials({ fileId }, place.work());
    expect(await markers('With a logo')).to.have.lengthOf(1);
  });
});
