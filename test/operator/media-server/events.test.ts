import { expect } from 'chai';
import { eventsBetween } from '#operator/media-server/events.ts';
import type { Condition } from '#operator/schemas/conditions.ts';

const condition = (type: string, status: Condition['status'], reason: Condition['reason']): Condition => ({
  ...{ type, status, reason, message: 'as it is' },
  ...{ observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' },
});
const emitted = (before: Condition[], after: Condition[]): string[] =>
  eventsBetween(before, after).map(({ type, reason, message }) => `${type} ${reason} ${message}`);

describe('events of conditions', () => {
  const well = condition('RedisReady', 'True', 'Connected');
  const ill = condition('RedisReady', 'False', 'RedisUnreachable');

  it('report a change once, by its kind', () => {
    expect(emitted([well], [ill])).to.deep.equal(['Warning RedisUnreachable RedisReady is False: as it is']);
    expect(emitted([ill], [well])).to.deep.equal(['Normal Connected RedisReady is True: as it is']);
    expect(emitted([ill], [{ ...ill, message: 'in other words' }])).to.deep.equal([]);
  });

  it('report a bad condition when it comes and when it goes', () => {
    const [calm, degraded] = [
      condition('Degraded', 'False', 'AllReady'),
      condition('Degraded', 'True', 'CrashLooping'),
    ];
    expect(emitted([calm], [degraded])).to.deep.equal(['Warning CrashLooping Degraded is True: as it is']);
    expect(emitted([degraded], [calm])).to.deep.equal(['Normal AllReady Degraded is False: as it is']);
    expect(emitted([], [calm])).to.deep.equal([]);
  });

  it('report nothing for unknown states, starts, and conditions of others', () => {
    expect(emitted([well], [condition('RedisReady', 'Unknown', 'Connected')])).to.deep.equal([]);
    expect(emitted([], [condition('RedisReady', 'False', 'Starting')])).to.deep.equal([]);
    expect(emitted([], [condition('Progressing', 'True', 'RollingOut')])).to.deep.equal([]);
  });
});
