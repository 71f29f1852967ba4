import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Locks } from '../../../web/src/core/api/lock.ts';
import { tabChannel } from '../../../web/src/core/browser/tabs.ts';
import { effectOf } from '../../../web/src/core/events/effects.ts';
import { followEvents, type StreamEvent } from '../../../web/src/core/events/leader.ts';

/** One lock for all tabs of this test. */
function oneLock(): Locks {
  let last: Promise<unknown> = Promise.resolve();
  const kept = new AbortController().signal;
  return {
    hold: (_name, work) => {
      const next = last.then(() => work(kept));
      last = next.catch(() => undefined);
      return next;
    },
  };
}

const event = (id: string): StreamEvent => ({
  id,
  event: 'item.updated',
  at: '2026-01-01T00:00:00Z',
  payload: { itemId: 'i', libraryId: 'l' },
});

interface Opened {
  after: string | undefined;
  send(id: string): void;
}

/** A server: each opened stream is listed, and ends with its tab. */
function server() {
  const opened: Opened[] = [];
  async function* open({
    lastEventId,
    signal,
  }: {
    lastEventId?: string;
    signal: AbortSignal;
  }): AsyncGenerator<StreamEvent> {
    const queue: string[] = [];
    let wake = (): void => undefined;
    opened.push({
      after: lastEventId,
      send: (id) => {
        queue.push(id);
        wake();
      },
    });
    signal.addEventListener('abort', () => wake());
    while (!signal.aborted) {
      const id = queue.shift();
      if (id) yield event(id);
      else await new Promise<void>((done) => (wake = done));
    }
  }
  return { opened, open };
}

describe('the event stream of a browser', () => {
  it('is one for all tabs, gives each event to each tab once, and passes to another tab after the last event', async () => {
    const { opened, open } = server();
    const locks = oneLock();
    const ends: (() => void)[] = [];
    const tabs = Array.from({ length: 3 }, () => {
      const leaving = new AbortController();
      const seen: string[] = [];
      const { channel, close } = tabChannel<StreamEvent>('test-events');
      ends.push(close);
      void followEvents(
        { locks, channel, open, sleep: (ms) => sleep(ms / 100) },
        ({ id }) => seen.push(id),
        leaving.signal,
      );
      return { leaving, seen };
    });
    await sleep(20);
    expect(opened.length).to.equal(1);
    opened[0]?.send('1');
    opened[0]?.send('2');
    await sleep(50);
    expect(tabs.map(({ seen }) => seen)).to.deep.equal([
      ['1', '2'],
      ['1', '2'],
      ['1', '2'],
    ]);
    tabs[0]?.leaving.abort();
    await sleep(50);
    expect(opened.map(({ after }) => after)).to.deep.equal([undefined, '2']);
    opened[1]?.send('3');
    await sleep(50);
    expect(tabs.map(({ seen }) => seen.length)).to.deep.equal([2, 3, 3]);
    for (const { leaving } of tabs) leaving.abort();
    for (const end of ends) end();
  });
});

describe('what an event makes old', () => {
  it('is everything after a reset', () => {
    expect(
      effectOf({ id: '1', event: 'stream.reset', at: '', payload: { reason: 'too-old', missed: true } })?.all,
    ).to.equal(true);
  });

  it('is what holds the item, or all lists when the items were too many to name', () => {
    const changed = { profileId: 'p', what: ['watched' as const], itemIds: ['a', 'b'], truncated: false };
    const of = (payload: typeof changed) => effectOf({ id: '1', event: 'state.changed', at: '', payload });
    expect(of(changed)?.itemIds).to.deep.equal(['a', 'b']);
    expect(of(changed)?.whole).to.deep.equal(['getHome', 'getHomeRow']); // also answers without them
    expect(of({ ...changed, truncated: true })?.itemIds).to.equal(undefined);
    expect(of(changed)?.names).to.include('getItem');
  });

  it('is the look and nothing about items after a change of preferences', () => {
    const payload = { profileId: 'p', what: ['preferences' as const], itemIds: [], truncated: false };
    const { names } = effectOf({ id: '1', event: 'state.changed', at: '', payload }) ?? {};
    expect(names).to.deep.equal(['getPlaybackPreferences', 'listThemes', 'getHomeLayout', 'getHome', 'getHomeRow']);
  });

  it('is nothing that no page shows', () => {
    expect(effectOf({ id: '1', event: 'webhook.test', at: '', payload: { webhookId: 'w', byUserId: 'u' } })).to.equal(
      undefined,
    );
  });
});
