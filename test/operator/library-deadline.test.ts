// RELIABILITY K6: the deletion of a Library whose server does not answer ends.
import { expect } from 'chai';
import { release } from '#operator/library/release.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { Unreachable } from '#operator/server-api/server-client.ts';
import type { Servers } from '#operator/server-api/servers.ts';
import { MemoryKube } from './media-server/support.ts';

const DELETED = new Date('2026-01-01T00:00:00Z');
const MINUTE_MS = 60_000;

class Kube extends MemoryKube {
  isHeld = true;

  override async setFinalizer(): Promise<void> {
    this.isHeld = false;
  }
}

describe('a Library that is deleted while its server is unreachable', () => {
  const server: KubeObject = {
    apiVersion: 'foyer.media/v1alpha1',
    kind: 'MediaServer',
    metadata: { name: 'home', namespace: 'media', uid: 'u' },
  };
  const library = (annotations: Record<string, string> = {}): KubeObject => ({
    apiVersion: 'foyer.media/v1alpha1',
    kind: 'Library',
    metadata: { name: 'films', namespace: 'media', uid: 'l', annotations, deletionTimestamp: DELETED.toISOString() },
    spec: {
      serverRef: { name: 'home' },
      type: 'movies',
      folders: [{ media: 'media', path: '/films' }],
      deletionPolicy: 'Delete',
    },
    status: { libraryId: 'the-id' },
  });
  const unreachable = {
    libraries: () => ({
      request: () => Promise.reject(new Unreachable('no answer')),
      madeFor: () => Promise.reject(new Unreachable('no answer')),
    }),
  } as unknown as Servers;

  async function passAfter(ms: number, annotations?: Record<string, string>) {
    const kube = new Kube().put(server);
    const now = new Date(DELETED.getTime() + ms);
    const outcome = await release(library(annotations), { kube, servers: unreachable, now });
    return { held: kube.isHeld, events: kube.events, ...outcome };
  }

  it('is held for ten minutes, and checked again within half a minute of their end', async () => {
    for (const ms of [0, MINUTE_MS, 9.9 * MINUTE_MS]) {
      const { held, events, requeueAfterMs } = await passAfter(ms);
      expect([held, events]).to.deep.equal([true, []]);
      expect(ms + (requeueAfterMs ?? Number.POSITIVE_INFINITY)).to.be.at.most(10 * MINUTE_MS + 30_000);
    }
  });

  it('goes then, and reports the remains', async () => {
    const { held, events, requeueAfterMs } = await passAfter(10 * MINUTE_MS + 1);
    expect([held, requeueAfterMs]).to.deep.equal([false, undefined]);
    const emitted = events.map(({ type, reason }) => `${type} ${reason}`);
    expect(emitted).to.deep.equal(['Warning CleanupSkipped']);
    expect(events[0]?.message).to.contain('the data of library the-id stays on the server');
  });

  it('goes at once where the annotation requires it', async () => {
    const { held, events } = await passAfter(0, { 'foyer.media/skip-cleanup': 'true' });
    expect(held).to.equal(false);
    expect(events.map(({ reason }) => reason)).to.deep.equal(['CleanupSkipped']);
    expect((await passAfter(0, { 'foyer.media/skip-cleanup': 'no' })).held).to.equal(true);
  });
});
