import { expect } from 'chai';
import { release } from '#operator/library/release.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { Servers } from '#operator/server-api/servers.ts';
import { MemoryKube, mediaServer } from './media-server/support.ts';

const GONE_AT = '2026-01-01T00:00:00Z';
const later = (ms: number): Date => new Date(Date.parse(GONE_AT) + ms);
const stores = { postgres: { managed: {} }, redis: { managed: {} }, objects: { managed: {} } };

function library(spec: object = {}, annotations: Record<string, string> = {}): KubeObject {
  const metadata = { name: 'films', namespace: 'media', uid: 'u', deletionTimestamp: GONE_AT, annotations };
  const wanted = { serverRef: { name: 'home' }, type: 'movies', deletionPolicy: 'Delete', ...spec };
  return { apiVersion: 'foyer.media/v1alpha1', kind: 'Library', metadata, spec: wanted, status: { libraryId: 'l1' } };
}

/** How long it is held, and the reported events. */
async function released(object: KubeObject, { server, now }: { server: KubeObject | undefined; now: Date }) {
  const kube = new MemoryKube();
  if (server) kube.put(server);
  const { requeueAfterMs } = await release(object, { kube, servers: new Servers(), now });
  return {
    held: requeueAfterMs !== undefined,
    events: kube.events.map(({ reason, message }) => `${reason}: ${message}`),
  };
}

describe('a Library that is deleted', () => {
  it('does not wait for a server that is gone, and reports its remains', async () => {
    const left = 'the data of library l1 stays on the server and can be deleted there';
    const now = later(0);
    const events = [`CleanupSkipped: MediaServer home is gone; ${left}`];
    expect(await released(library(), { server: undefined, now })).to.deep.equal({ held: false, events });
    const leaving = mediaServer(stores);
    leaving.metadata.deletionTimestamp = GONE_AT;
    expect(await released(library(), { server: leaving, now })).to.deep.equal({ held: false, events });
    const kept = library({ deletionPolicy: 'Retain' });
    expect(await released(kept, { server: undefined, now })).to.deep.equal({ held: false, events: [] });
    const strange = await released(library({ type: 7 }), { server: mediaServer(stores), now });
    expect(strange).to.deep.equal({
      held: false,
      events: [`CleanupSkipped: the spec is not valid for this operator; ${left}`],
    });
  });

  it('waits ten minutes for an unreachable one, or not at all where the annotation requires it', async () => {
    const server = mediaServer(stores);
    expect(await released(library(), { server, now: later(599_000) })).to.deep.equal({ held: true, events: [] });
    const { held, events } = await released(library(), { server, now: later(601_000) });
    expect({ held, events: events[0] })
      .to.deep.include({ held: false })
      .and.have.property('events')
      .that.includes('not set up');
    const skipped = library({}, { 'foyer.media/skip-cleanup': 'true' });
    expect(await released(skipped, { server, now: later(0) })).to.have.property('held', false);
  });
});
