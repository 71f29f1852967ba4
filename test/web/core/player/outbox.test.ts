import { expect } from 'chai';
import type { SyncPlaybackBody } from '../../../../api/client/areas/playback.ts';
import { Outbox, type Position } from '../../../../web/src/core/player/outbox.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;

describe('positions that wait for the server', () => {
  let kept: Map<string, string>;
  let outbox: Outbox;
  let ids = 0;
  const home = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
  const position = (more: Partial<Position> = {}): Position => ({
    profileId: 'ana',
    itemId: 'film',
    fileId: 'file',
    positionMs: 70_000,
    at: 1000,
    ...more,
  });
  const sent = async (profileId = 'ana'): Promise<NonNullable<SyncPlaybackBody['reports']>> => {
    const bodies: SyncPlaybackBody[] = [];
    await outbox.flush(profileId, async (body) => bodies.push(body));
    return bodies.flatMap(({ reports = [] }) => reports);
  };

  beforeEach(() => {
    kept = new Map();
    outbox = new Outbox(home, () => (ids++).toString(16).padStart(32, '0'));
  });

  it('sends the newest of an item with its time, once', async () => {
    outbox.keep(position());
    outbox.keep(position({ positionMs: 75_000, at: 6000 }));
    const [report, ...rest] = await sent();
    expect(rest).to.deep.equal([]);
    expect(report).to.include({ itemId: 'film', positionMs: 75_000, at: '1970-01-01T00:00:06.000Z' });
    expect(report?.clientEventId).to.match(UUID);
    expect(await sent()).to.deep.equal([]);
  });

  it('sends no position that the server confirmed, unless the confirmed one is older', async () => {
    outbox.keep(position({ at: 6000 }));
    outbox.confirm({ profileId: 'ana', itemId: 'film', at: 5000 });
    expect(kept.size).to.equal(1);
    outbox.confirm({ profileId: 'ana', itemId: 'film', at: 6000 });
    expect(kept.size).to.equal(0);
  });

  it('never sends the positions of another profile', async () => {
    outbox.keep(position({ profileId: 'ben' }));
    expect(await sent('ana')).to.deep.equal([]);
    expect(await sent('ben')).to.have.length(1);
  });

  it('keeps positions that could not be sent, and those stored during a sending', async () => {
    outbox.keep(position());
    await outbox.flush('ana', () => Promise.reject(new Error('offline'))).catch(() => undefined);
    expect(kept.size).to.equal(1);
    await outbox.flush('ana', async () => outbox.keep(position({ at: 9000, positionMs: 90_000 })));
    expect(await sent()).to.have.length(1);
  });

  it('keeps fifty at most, and survives a stored value of another shape', async () => {
    for (let n = 0; n < 60; n++) outbox.keep(position({ itemId: `film ${n}` }));
    expect(await sent()).to.have.length(50);
    for (const text of [
      '{',
      '3',
      '[1, null, {"itemId": 4}]',
      '[{"itemId":"a","profileId":"ana","positionMs":"x","at":1}]',
    ]) {
      kept.set('foyer.positions', text);
      expect(await sent(), text).to.deep.equal([]);
    }
  });
});
