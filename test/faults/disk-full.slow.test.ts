// The disk of the data directory fills up and gets space again: films that need no writing continue, nothing ends.
import { copyFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '#support/stores.ts';
import { fixtures } from '../../hack/fixtures/index.ts';
import { Machine } from './machine.ts';

const MEGABYTE = 1 << 20;
const LONG_MS = 60_000;

interface Refusal {
  error: { code: string; details: { waitingFor?: string } };
}

describe('a disk without space', function () {
  this.timeout(240_000);
  const machine = new Machine({ apis: 1, warm: 0, diskMegabytes: 800 });
  let item = '';

  before(async () => {
    const { real } = await fixtures();
    copyFileSync(join(real, 'video', 'bbb_trailer_720p.mp4'), join(machine.films, 'Trailer (2008).mp4'));
    await machine.start();
    const id = await machine.addLibrary();
    const [found] = await eventually(async () => {
      const { body } = await machine.owner.listLibraryItems({ params: { id } });
      return body.items.length === 1 && body.items;
    }, LONG_MS);
    item = found?.id ?? '';
  });
  after(async () => machine.stop());

  const names = ['postgres', 'redis', 'api-1', 'worker-1', 'transcode-1'];
  const pids = (): number[] => names.map((name) => machine.pidOf(name));
  const ballast = join(machine.data, 'ballast');

  /** Leaves so many bytes, less those that the server itself writes meanwhile. */
  function fill(leave: number): void {
    const { bavail, bsize } = statfsSync(machine.data);
    for (let rest = bavail * bsize - leave; rest > 0; rest -= 64 * MEGABYTE) {
      const chunk = Buffer.alloc(Math.min(rest, 64 * MEGABYTE), 1);
      try {
        writeFileSync(ballast, chunk, { flag: 'a' });
      } catch {
        return; // it is full
      }
    }
  }

  async function degraded(): Promise<string> {
    const { status } = (await machine.status()).find(({ kind }) => kind === 'MediaServer') ?? {};
    const conditions = (status?.conditions ?? []) as { type?: string; reason?: string }[];
    return String(conditions.find(({ type }) => type === 'Degraded')?.reason);
  }

  const get = (path: string) => fetch(new URL(path, machine.url), { headers: machine.headers });
  let playing: string | undefined;
  const play = (allow = {}): Promise<Response> =>
    fetch(`${machine.url}/api/v1/items/${item}/playback`, {
      method: 'POST',
      headers: { ...machine.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ startMs: 0, client: { builtIn: 'hls' }, allow, ...(playing && { replaces: playing }) }),
    });

  /** The first address of a playlist, as a path. */
  async function firstOf(path: string): Promise<string> {
    const text = await (await get(path)).text();
    return new URL(/^[^#].*$/m.exec(text)?.[0] ?? '', new URL(path, machine.url)).pathname;
  }

  /** The first segment of an encoded film, or its refusal. */
  async function firstSegment(): Promise<Response> {
    const started = await play({ directPlay: false, directStream: false });
    if (started.status !== 201) return started;
    const { session } = (await started.json()) as { session: { id: string; url: string } };
    playing = session.id;
    return get(await firstOf(await firstOf(session.url)));
  }

  it('has a transcode worker as soon as a session needs one, where none waits ready', async () => {
    expect(machine.pidOf('transcode-1')).to.equal(0);
    expect((await firstSegment()).status).to.equal(200);
    expect(machine.pidOf('transcode-1')).to.not.equal(0);
  });

  it('is reported before it is full, and nothing changes yet', async () => {
    fill(60 * MEGABYTE);
    await eventually(async () => (await degraded()) === 'DiskLow', LONG_MS);
    expect((await firstSegment()).status).to.equal(200);
    const notice = await eventually(async () => {
      const { body } = await machine.owner.listNotifications();
      return body.items.find(({ kind }) => kind === 'disk-low');
    }, 90_000);
    expect(notice.body).to.include('almost full');
  });

  it('stops encoding and pictures alone: browsing and direct play continue, no process ends, all is back with the space', async () => {
    const before = pids();
    fill(0);
    await eventually(async () => (await firstSegment()).status === 503, LONG_MS);
    const { error } = (await (await firstSegment()).json()) as Refusal;
    expect([error.code, error.details.waitingFor]).to.deep.equal(['SERVICE_STARTING', 'storage']);
    for (let round = 0; round < 20; round += 1) {
      expect((await machine.owner.listLibraries()).status).to.equal(200);
      const direct = await play();
      expect(direct.status).to.be.oneOf([201, 503]); // a new row may need a page that is unavailable
    }
    expect(pids()).to.deep.equal(before);
    rmSync(ballast);
    await eventually(async () => (await firstSegment()).status === 200, LONG_MS);
    await machine.ready();
    expect(pids()).to.deep.equal(before);
  });
});
