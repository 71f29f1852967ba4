import { expect } from 'chai';
import { History, type Sign } from '../../../../web/src/core/player/recovery.ts';

const http = (status: number, more: Partial<Sign> = {}): Sign => ({ kind: 'network', status, ...more });

const UNREADABLE = { code: 'TRANSCODE_FAILED', message: '', issues: [], details: {} };

describe('the recovery table of the player', () => {
  let history: History;
  beforeEach(() => {
    history = new History();
  });

  it('waits longer each time, for a minute, and then looks for another session', () => {
    const remedies = [0, 500, 1500, 3500, 7500, 11_500].map((now) => history.next(http(0), now));
    expect(remedies.map((one) => (one.do === 'retry' ? one.waitMs : one.do))).to.deep.equal([
      500, 1000, 2000, 4000, 4000, 4000,
    ]);
    expect(history.next(http(503), 60_000).do).to.equal('retry');
    expect(history.next(http(503), 60_001).do).to.equal('reopen');
  });

  it('counts from zero after playback continued', () => {
    history.next(http(0), 0);
    history.recovered();
    expect(history.next(http(0), 90_000)).to.deep.equal({ do: 'retry', waitMs: 500 });
  });

  it('refreshes the token once', () => {
    expect(history.next(http(401), 0).do).to.equal('refresh');
    expect(history.next(http(401), 1).do).to.equal('fail');
  });

  it('opens another session three times in two minutes', () => {
    const at = (now: number) => history.next(http(404), now).do;
    expect([at(0), at(1), at(2), at(3)]).to.deep.equal(['reopen', 'reopen', 'reopen', 'fail']);
    expect(at(120_001)).to.equal('reopen');
  });

  it('skips a damaged part once, then lowers the quality', () => {
    const damaged = http(500, { segmentEndMs: 10_000 });
    expect(history.next(damaged, 0)).to.deep.equal({ do: 'skip', toMs: 12_000 });
    expect(history.next(damaged, 1).do).to.equal('lower');
  });

  it('opens another session once in two minutes for a file that cannot be read, while there is something to show', () => {
    const problem = { ...UNREADABLE, reason: 'source-read' };
    const at = (now: number, isAhead: boolean) =>
      history.next(http(500, { code: 'TRANSCODE_FAILED', problem, isAhead }), now).do;
    expect(at(0, true)).to.equal('reopen');
    history.recovered();
    expect(at(119_999, true)).to.equal('fail');
    expect(at(240_000, false)).to.equal('fail');
    expect(at(360_001, true)).to.equal('reopen');
  });

  it('recovers the decoder once, then leaves its codec out', () => {
    expect(history.next({ kind: 'decode' }, 0).do).to.equal('recoverMedia');
    expect(history.next({ kind: 'decode' }, 1).do).to.equal('refuseCodec');
    expect(history.next({ kind: 'refused' }, 2).do).to.equal('refuseCodec');
  });

  for (const [sign, remedy] of [
    [http(423), { do: 'waitStorage', waitMs: 10_000 }],
    [http(503, { code: 'TRANSCODE_LIMIT_REACHED', retryAfterSec: 7 }), { do: 'waitSlot', waitMs: 7000 }],
    [http(429, { code: 'STREAM_LIMIT_REACHED' }), { do: 'stopOther' }],
    [http(409), { do: 'reopen' }],
    [http(403), { do: 'fail' }],
    [http(500, { code: 'TRANSCODE_FAILED', problem: { ...UNREADABLE, reason: 'source-read' } }), { do: 'fail' }],
    [http(500, { code: 'TRANSCODE_FAILED', problem: { ...UNREADABLE, reason: 'decode' } }), { do: 'lower' }],
    [http(415), { do: 'fail' }],
    [http(502), { do: 'retry', waitMs: 500 }],
    [http(429), { do: 'retry', waitMs: 500 }],
  ] as const)
    it(`answers ${sign.status} ${sign.code ?? ''} with ${remedy.do}`, () => {
      expect(history.next(sign, 0)).to.deep.equal(remedy);
    });
});
