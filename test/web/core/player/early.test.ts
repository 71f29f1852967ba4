import { expect } from 'chai';
import { openEarly, takeEarly } from '../../../../web/src/core/player/early.ts';
import type { SessionHome } from '../../../../web/src/core/player/session.ts';

/** Counts the sessions that are opened and ended. */
function server(): { home: SessionHome; opened: string[]; ended: string[] } {
  const opened: string[] = [];
  const ended: string[] = [];
  const home = {
    api: {
      startPlayback: async ({ params: { id } }: { params: { id: string } }) => {
        opened.push(id);
        return { session: { id: `session of ${id}` } };
      },
      endPlaybackSession: async ({ params: { id } }: { params: { id: string } }) => void ended.push(id),
    },
    storage: { getItem: () => null, setItem: () => undefined, removeItem: () => undefined },
    probe: {
      version: '1',
      hdr: false,
      switchesAudio: false,
      file: () => true,
      stream: () => true,
      smooth: async () => true,
    },
    outbox: { isEmpty: true },
  };
  return { home: home as unknown as SessionHome, opened, ended };
}

describe('a session that opens at the press on Play', () => {
  it('is taken once, by the player of the same request', async () => {
    const { home, opened } = server();
    openEarly(home, 'film', { preroll: true });
    openEarly(home, 'film', { preroll: true });
    expect(takeEarly('other', { preroll: true })).to.equal(undefined);
    expect(takeEarly('film', { preroll: true, startMs: 0 })).to.equal(undefined);
    expect((await takeEarly('film', { preroll: true }))?.session.id).to.equal('session of film');
    expect(takeEarly('film', { preroll: true })).to.equal(undefined);
    expect(opened).to.deep.equal(['film']);
  });

  it('fails where the player takes it, and ends when no player does', async () => {
    const refused = server();
    refused.home.api.startPlayback = () => Promise.reject(new Error('refused'));
    openEarly(refused.home, 'film', {});
    const failure = await takeEarly('film', {})?.catch((error: Error) => error.message);
    expect(failure).to.equal('refused');
    const { home, ended } = server();
    const real = globalThis.setTimeout;
    globalThis.setTimeout = ((run: () => void) => real(run, 1)) as typeof setTimeout;
    openEarly(home, 'film', {});
    globalThis.setTimeout = real;
    await new Promise((done) => real(done, 50));
    expect(takeEarly('film', {})).to.equal(undefined);
    expect(ended).to.deep.equal(['session of film']);
  });
});
