import { expect } from 'chai';
import { eventsBetween } from '#operator/media-server/events.ts';
import type { Condition } from '#operator/schemas/conditions.ts';

const condition = (type: string, status: Condition['status'], reason: Condition['reason']): Condition => ({
  ...{ type, status, reason, message: 'as it is' },
  ...{ observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' },
});
const told = (before: Condition[], after: Condition[]): string[] =>
  eventsBetween(before, after).map(({ type, reason, message }) => `${type} ${reason} ${message}`);

describe('events of conditions', () => {
  const well = condition('RedisReady', 'True', 'Connected');
  const ill = condition('RedisReady', 'False', 'RedisUnreachable');

  it('tell a change once, as what it is', () => {
    expect(told([well], [ill])).to.deep.equal(['Warning RedisUnreachable RedisReady is False: as it is']);
    expect(told([ill], [well])).to.deep.equal(['Normal Connected RedisReady is True: as it is']);
    expect(told([ill], [{ ...ill, message: 'in other words' }])).to.deep.equal([]);
  });

  it('tell of what is bad when it is True that it came and that it went', () => {
    const [calm, degraded] = [
      condition('Degraded', 'False', 'AllReady'),
      condition('Degraded', 'True', 'CrashLooping'),
    ];
    expect(told([calm], [degraded])).to.deep.equal(['Warning CrashLooping Degraded is True: as it is']);
    expect(told([degraded], [calm])).to.deep.equal(['Normal AllReady Degraded is False: as it is']);
    expect(told([], [calm])).to.deep.equal([]);
  });

  it('say nothing of what is not known, of what starts, and of what others say', () => {
    expect(told([well], [condition('RedisReady', 'Unknown', 'Connected')])).to.deep.equal([]);
    expect(told([], [condition('RedisReady', 'False', 'Starting')])).to.deep.equal([]);
    expect(told([], [condition('Progressing', 'True', 'RollingOut')])).to.deep.equal([]);
  });
});
