import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { failRequest, finishRequest } from '#areas/subtitles/speech/endings.ts';
import { addPace, findModel, paceOf } from '#areas/subtitles/speech/models.store.ts';
import { claimRequest } from '#areas/subtitles/speech/turns.store.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { givenSpeechModel } from '#support/given-speech.ts';

describe('the line of requests for subtitles from speech', function () {
  this.timeout(60_000);
  let api: Api;
  let films: GivenLibrary;

  before(async () => {
    api = await startApi();
    await api.deps.objects.prepare(['foyer-subtitles']);
    await api.given.owner();
    films = await givenLibrary(api.deps.db, 'movies');
  });
  beforeEach(async () => {
    await api.deps.db('subtitle_requests').delete();
    await givenSpeechModel(api.deps.db);
  });

  const claim = () => claimRequest(api.deps.db, { id: 'worker', model: 'base' });
  async function generate(person: Person): Promise<string> {
    const id = await givenItem(api.deps.db, films, { top: true });
    const streams = [{}, { kind: 'audio', codec: 'aac', language: 'de', is_default: true }];
    const fileId = await givenFile(api.deps.db, films, id, { duration_ms: 60_000, streams });
    writeFileSync(join(api.mediaRoot, `${id}.mkv`), 'film');
    await api.deps
      .db('media_files')
      .where({ id: fileId })
      .update({ path: `${id}.mkv`, size_bytes: 4 });
    const answer = await api.as(person).generateSubtitles({ params: { id }, body: {} });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(202);
    return answer.body.id;
  }

  it('takes accounts in turn, and the oldest request of each', async () => {
    const [ana, ben, cem] = [await api.given.member(), await api.given.member(), await api.given.member()];
    const names: Record<string, string> = {};
    for (const [name, person] of Object.entries({ a1: ana, a2: ana, a3: ana, b1: ben, b2: ben, c1: cem }))
      names[await generate(person)] = name;
    const taken: (string | undefined)[] = [];
    for (let n = 0; n < 6; n += 1) taken.push(names[(await claim())?.id ?? '']);
    expect(taken).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(await claim()).to.equal(undefined);
  });

  it('is estimated by the median of the last 50 checkpoints, before the first by the sample', async () => {
    const { db } = api.deps;
    expect(paceOf(await findModel(db, 'base'))).to.equal(6);
    for (let pace = 1; pace <= 60; pace += 1) await addPace(db, 'base', pace);
    const model = await findModel(db, 'base');
    expect(model?.paces).to.have.length(50);
    expect(paceOf(model)).to.equal(36);
    const { secondsPerMinute } = (await api.as(await api.given.member()).getSubtitleCapabilities({})).body;
    expect(secondsPerMinute).to.equal(36);
  });

  it('reports the end of a request to its requester alone, unless that took under 20 seconds', async () => {
    const { db, objects } = api.deps;
    const [person, other] = [await api.given.member(), await api.given.member()];
    const kinds = async (of: Person) => (await api.as(of).listNotifications({})).body.items.map(({ kind }) => kind);
    const bytes = Buffer.from('1\n00:00:01,000 --> 00:00:02,000\nEin Wort\n');
    const text = { bytes, format: 'srt' as const, cueCount: 1, language: 'de' };
    for (const isSlow of [false, true]) {
      for (const end of ['finish', 'fail'] as const) {
        const id = await generate(person);
        if (isSlow)
          await db('subtitle_requests')
            .where({ id })
            .update({ created_at: new Date(Date.now() - 21_000) });
        const turn = await claim();
        if (!turn) throw new Error('nothing was claimed');
        const ended =
          end === 'finish' ? finishRequest({ db, objects }, turn, text) : failRequest(db, turn, 'no-speech');
        expect(await ended).to.equal(true);
      }
      expect(await kinds(person)).to.have.members(isSlow ? ['subtitle-ready', 'subtitle-failed'] : []);
    }
    expect(await kinds(other)).to.deep.equal([]);
    const sent = await db('outbox').where({ event: 'notification.created' }).select('payload');
    expect(sent.map(({ payload }) => (payload as { kind: string }).kind)).to.have.members([
      'subtitle-ready',
      'subtitle-failed',
    ]);
  });
});
