import { expect } from 'chai';
import { client, GivenPlayback } from '#support/given-playback.ts';

describe('Playback of several profiles of an account', () => {
  const given = new GivenPlayback();

  it('keeps a place for the profile that plays, whichever of them reports it', async () => {
    const kid = (await given.me.createProfile({ body: { name: 'Kid' } })).body.id;
    const { accountId } = given.person;
    const other = given.api.as(await given.api.given.again({ accountId, profileId: kid }));
    const id = await given.film();
    const placeOf = async (whom: typeof other): Promise<number> =>
      (await whom.getItemProgress({ params: { id } })).body.positionMs;
    const started = await other.startPlayback({ params: { id }, body: { client } });
    const params = { id: started.body.session.id };
    const reported = await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: 600_000 } });
    expect(reported.status).to.equal(200);
    expect([await placeOf(given.me), await placeOf(other)]).to.deep.equal([0, 600_000]);
    await given.me.endPlaybackSession({ params, query: { positionMs: 900_000 } });
    expect([await placeOf(given.me), await placeOf(other)]).to.deep.equal([0, 900_000]);
  });
});
