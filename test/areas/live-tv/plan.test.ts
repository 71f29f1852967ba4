// The planner, against a search of all plans that shares no code with it.
import { expect } from 'chai';
import { type Plan, type Planned, plan } from '../../../api/areas/live-tv/schedule/plan.ts';
import type { PlanTuner, Wanted } from '../../../api/areas/live-tv/schedule/wanted.ts';

const CASES = 5000;
const HOUR = 3_600_000;

/** The same numbers in each run. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Case {
  tuners: PlanTuner[];
  wanted: Wanted[];
}

/** Times are small numbers, so that recordings often touch and overlap. */
function caseOf(seed: number): Case {
  const random = numbersFrom(seed);
  const tuners = Array.from({ length: 1 + random(3) }, (_, at) => ({ id: `t${at}`, slots: 1 + random(3) }));
  const channels = Array.from({ length: 1 + random(5) }, (_, at) => {
    const own = tuners.map(({ id }) => id).filter(() => random(3) > 0);
    return { id: `c${at}`, tunerIds: random(2) ? own : own.reverse() };
  });
  const wanted = Array.from({ length: 1 + random(9) }, (_, at): Wanted => {
    const channel = channels[random(channels.length)] ?? { id: '', tunerIds: [] };
    const startMs = random(12);
    const running = channel.tunerIds.length > 0 && random(6) === 0;
    return {
      ...{ id: `r${at}`, channelId: channel.id, tunerIds: channel.tunerIds, startMs, endMs: startMs + 1 + random(6) },
      ...{ startPadMs: random(3), endPadMs: random(4), priority: random(3) * 50, createdMs: random(3) },
      ...(running && { pinned: channel.tunerIds[random(channel.tunerIds.length)] }),
    };
  });
  return { tuners, wanted };
}

interface Placed {
  channelId: string;
  from: number;
  to: number;
  tunerId: string;
}

const meet = (a: { from: number; to: number }, b: { from: number; to: number }): boolean =>
  a.from < b.to && b.from < a.to;

/** Channels that a tuner receives at a time. */
const received = (placed: readonly Placed[], tunerId: string, at: number): Set<string> =>
  new Set(placed.filter((one) => one.tunerId === tunerId && one.from <= at && at < one.to).map((one) => one.channelId));

/** No tuner receives more channels than it has slots, and no channel is received twice. */
function isPossible(placed: readonly Placed[], tuners: readonly PlanTuner[]): boolean {
  const times = placed.map(({ from }) => from);
  const isDouble = placed.some((one) =>
    placed.some((other) => other.channelId === one.channelId && other.tunerId !== one.tunerId && meet(one, other)),
  );
  return !isDouble && tuners.every(({ id, slots }) => times.every((at) => received(placed, id, at).size <= slots));
}

/** Whether tuners can be chosen for all programmes, by trying each choice. */
function canAll(wanted: readonly Wanted[], tuners: readonly PlanTuner[], placed: readonly Placed[] = []): boolean {
  const [one, ...rest] = wanted;
  if (!one) return true;
  return (one.pinned === undefined ? one.tunerIds : [one.pinned]).some((tunerId) => {
    const next = [...placed, { channelId: one.channelId, from: one.startMs, to: one.endMs, tunerId }];
    return isPossible(next, tuners) && canAll(rest, tuners, next);
  });
}

const rankOf = ({ pinned, priority, startMs, createdMs, id }: Wanted): [number, number, number, number, string] => [
  pinned === undefined ? 1 : 0,
  -priority,
  startMs,
  createdMs,
  id,
];

function isBefore(a: Wanted, b: Wanted): boolean {
  const [left, right] = [rankOf(a), rankOf(b)];
  const at = left.findIndex((value, place) => value !== right[place]);
  return at >= 0 && (left[at] ?? 0) < (right[at] ?? 0);
}

/** The recordings that the rules keep. */
function keptBy({ wanted, tuners }: Case): Wanted[] {
  const kept: Wanted[] = [];
  for (const one of wanted.toSorted((a, b) => (isBefore(a, b) ? -1 : 1)))
    if (canAll([...kept, one], tuners)) kept.push(one);
  return kept;
}

const placedOf = ({ wanted }: Case, made: Plan): (Placed & Planned & { one: Wanted })[] =>
  wanted.flatMap((one) => {
    const planned = made.planned.get(one.id);
    return planned ? [{ ...planned, one, channelId: one.channelId, from: planned.fromMs, to: planned.toMs }] : [];
  });

/** With its padding the plan is possible, each slot holds one channel at a time, and padding is cut only where it must be. */
function checkPlanned(given: Case, made: Plan): void {
  const placed = placedOf(given, made);
  expect(isPossible(placed, given.tuners), 'possible with padding').to.equal(true);
  for (const { one, from, to, slot, tunerId } of placed) {
    expect(slot).to.be.within(0, (given.tuners.find(({ id }) => id === tunerId)?.slots ?? 0) - 1);
    expect([from >= one.startMs - one.startPadMs, from <= one.startMs]).to.deep.equal([true, true]);
    expect([to <= one.endMs + one.endPadMs, to >= one.endMs]).to.deep.equal([true, true]);
    if (one.pinned !== undefined) expect(tunerId).to.equal(one.pinned);
    const longer = [
      ...(from > one.startMs - one.startPadMs ? [{ from: from - 1, to }] : []),
      ...(to < one.endMs + one.endPadMs ? [{ from, to: to + 1 }] : []),
    ];
    const others = placed.filter((other) => other.one !== one);
    for (const times of longer)
      expect(isPossible([...others, { channelId: one.channelId, tunerId, ...times }], given.tuners)).to.equal(false);
  }
  for (const a of placed)
    for (const b of placed.filter((other) => other !== a && other.tunerId === a.tunerId && meet(a, other)))
      expect(a.slot === b.slot, 'one channel a slot').to.equal(a.channelId === b.channelId);
}

/** The recordings of `with` have slots of the tuners in that time; without them there would be room. */
function checkRefused({ wanted, tuners }: Case, made: Plan): void {
  const kept = wanted.filter(({ id }) => made.planned.has(id));
  for (const [id, refused] of made.refused) {
    const one = wanted.find((other) => other.id === id);
    if (!one) throw new Error('an unknown recording');
    const holders = kept.filter((other) => refused.with.includes(other.id));
    expect(holders.length, 'planned ones').to.equal(refused.with.length);
    for (const { id: holder, startMs, endMs, channelId } of holders) {
      expect(startMs < one.endMs && one.startMs < endMs).to.equal(true);
      if (channelId !== one.channelId) expect(one.tunerIds).to.include(made.planned.get(holder)?.tunerId);
    }
    const rest = kept.filter((other) => !holders.includes(other));
    const canBe = one.tunerIds.length > 0;
    expect(canAll([...rest, one], tuners), 'room without them').to.equal(canBe);
    expect([refused.fromMs >= one.startMs, refused.toMs <= one.endMs, refused.fromMs < refused.toMs]).to.deep.equal([
      true,
      true,
      true,
    ]);
  }
}

describe('the plan of recordings', function () {
  this.timeout(120_000);

  it(`keeps in ${CASES} cases the recordings that a search of all plans keeps, pads them where slots are free, and explains each conflict`, () => {
    let conflicts = 0;
    for (let seed = 1; seed <= CASES; seed += 1) {
      const given = caseOf(seed);
      const made = plan(given.wanted, given.tuners);
      const kept = keptBy(given).map(({ id }) => id);
      try {
        expect([...made.planned.keys()].sort()).to.deep.equal(kept.sort());
        checkPlanned(given, made);
        checkRefused(given, made);
      } catch (error) {
        throw new Error(`case ${seed}: ${JSON.stringify(given)}`, { cause: error });
      }
      conflicts += made.refused.size;
    }
    expect(conflicts).to.be.above(CASES / 2);
  });

  it('plans 500 recordings of two weeks on 4 tuners within a second, also where many conflict', () => {
    const tuners = [2, 1, 4, 1].map((slots, at) => ({ id: `t${at}`, slots }));
    for (const hours of [24, 6, 3]) {
      const random = numbersFrom(hours);
      const receivers = Array.from({ length: 60 }, () => tuners.map(({ id }) => id).filter(() => random(3) > 0));
      const wanted = Array.from({ length: 500 }, (_, at): Wanted => {
        const channel = random(60);
        const startMs = (random(14) * 24 + random(hours)) * HOUR - (random(4) * HOUR) / 4;
        return {
          ...{ id: `r${at}`, channelId: `c${channel}`, tunerIds: receivers[channel] ?? [], createdMs: at },
          ...{ startMs, endMs: startMs + HOUR / 2 + random(3 * HOUR), startPadMs: 60_000, endPadMs: 180_000 },
          priority: random(5) * 20,
        };
      });
      const began = performance.now();
      const made = plan(wanted, tuners);
      expect(performance.now() - began, `within ${hours} hours a day`).to.be.below(1000);
      expect(made.planned.size + made.refused.size).to.equal(500);
      expect(made.refused.size, 'conflicts').to.be.above(hours === 24 ? 0 : 20);
    }
  });
});
