import { expect } from 'chai';
import { addKept, countUses, findKept, giveBackUse, keptKey, putKeptText, spendUse } from '#areas/subtitles/public.ts';
import { type Api, startApi } from '#support/api.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';

const TEXT = { bytes: Buffer.from('1\n00:00:01,000 --> 00:00:02,000\nA word\n'), format: 'srt' as const, cueCount: 1 };

describe('texts that the server keeps', () => {
  let api: Api;
  let fileId: string;
  let itemId: string;
  let accountId: string;

  before(async () => {
    api = await startApi();
    await api.deps.objects.prepare(['foyer-subtitles']);
    accountId = (await api.given.owner()).accountId;
    const library = await givenLibrary(api.deps.db, 'movies');
    itemId = await givenItem(api.deps.db, library, { title: 'Film', top: true });
    fileId = await givenFile(api.deps.db, library, itemId);
  });

  it('become tracks of their file, and their bytes lie under their digest', async () => {
    const { db, objects } = api.deps;
    await putKeptText(objects, TEXT);
    const add = (release: string): Promise<string> =>
      db.transaction((trx) =>
        addKept(trx, TEXT, {
          ...{ fileId, language: 'de', forced: false, hearingImpaired: true, accountId },
          origin: { source: 'fetched', provider: 'opensubtitles', providerFile: '7', release },
        }),
      );
    const ids = await Promise.all([add('One'), add('Other')]);
    const streams = await db('media_streams')
      .whereIn('id', ids)
      .orderBy('stream_index')
      .select('stream_index', 'codec');
    expect(streams).to.deep.equal([5000, 5001].map((index) => ({ stream_index: index, codec: 'subrip' })));
    const rows = await findKept(db, [fileId]);
    expect(rows.map(({ release }) => release)).to.have.members(['One', 'Other']);
    expect(await objects.stat('foyer-subtitles', keptKey(rows[0]?.sha256 ?? ''))).to.include({
      size: TEXT.bytes.length,
    });
  });

  it('are paid from a day that several pods never overdraw, and a use is given back once', async () => {
    const { db } = api.deps;
    const use = { accountId, kind: 'fetch' as const, itemId };
    const day = { limit: 3, timeZone: 'Europe/Berlin' };
    const spend = () => db.transaction((trx) => spendUse(trx, use, day));
    const spent = await Promise.all(Array.from({ length: 8 }, spend));
    const ids = spent.flatMap((one) => ('id' in one ? [one.id] : []));
    expect(ids).to.have.length(3);
    for (const id of [ids[0], ids[0]]) await giveBackUse(db, id ?? '');
    const { used, resetsAt } = await countUses(db, accountId, day.timeZone);
    expect(used).to.equal(2);
    const clock = new Intl.DateTimeFormat('de', { timeZone: day.timeZone, timeStyle: 'medium' }).format(resetsAt);
    expect(clock).to.equal('00:00:00');
    expect(resetsAt.getTime() - Date.now()).to.be.within(0, 25 * 3_600_000);
    await db('subtitle_uses').update({ spent_at: db.raw("now() - interval '25 hours'") });
    expect((await countUses(db, accountId, day.timeZone)).used).to.equal(0);
  });
});
