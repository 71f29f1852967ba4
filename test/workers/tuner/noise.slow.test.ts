// Streams that are no television: noise in every form. The tuner says so, stays within its memory, and receives the next channel.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { runningTuners } from '#platform/live/tuners.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { LiveStage } from '#support/live-stage.ts';
import { eventually } from '#support/stores.ts';
import { broadcast, tunerBox } from '#support/tuner-box.ts';

const PACKET = 188;
/** Sent within eight seconds, again and again: as much in a minute as a broadcast in half an hour. */
const BYTES = 200_000 * PACKET;
const MOST_MEGABYTES = 400;

const noise = (): Buffer => randomBytes(BYTES);

/** Packets with their first byte, and at random everything else. */
function packets(): Buffer {
  const bytes = noise();
  for (let at = 0; at < BYTES; at += PACKET) bytes[at] = 0x47;
  return bytes;
}

/** The program of a real broadcast, whose pictures and sound are noise. */
function program(): Buffer {
  const film = broadcast('h264');
  const heads = film.subarray(0, 3 * PACKET); // its tables
  const bytes = packets();
  for (let at = 0; at < BYTES; at += PACKET) {
    bytes.writeUInt16BE((at % 3 === 0 ? 0x101 : 0x100) | (at % 7 === 0 ? 0x4000 : 0), at + 1);
    bytes[at + 3] = 0x10 | ((at / PACKET) & 15);
  }
  for (let at = 0; at + heads.length < BYTES; at += 400 * PACKET) heads.copy(bytes, at);
  return bytes;
}

/** Bytes of memory of a process and those that it started. */
function memoryOf(pid: number): number {
  const own = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  );
  return children.reduce((sum, child) => sum + memoryOf(child), own);
}

describe('noise in place of television', function () {
  this.timeout(300_000);
  let api: Api;
  let stage: LiveStage;
  let viewer: TestClient;
  before(async () => {
    api = await startApi();
    stage = new LiveStage(api);
    await stage.prepare();
    viewer = api.as(await api.given.owner());
  });

  it('is no channel, costs no more memory, and leaves the tuner to the next one', async () => {
    const roof = await stage.tuner(1);
    const sources = [await tunerBox(noise(), 4), await tunerBox(packets(), 4), await tunerBox(program(), 4)];
    const good = await tunerBox('h264', 4);
    const process = await stage.process(roof);
    await eventually(async () => (await runningTuners(api.deps.redis, [roof]))?.has(roof), 30_000);
    const watch = async (name: string, url: string) => {
      const channel = await stage.channel(name, [{ tunerId: roof, url }]);
      return viewer.watchLiveChannel({ params: { id: channel }, body: { client: { builtIn: 'chromium' } } });
    };
    let most = 0;
    const watching = setInterval(() => {
      try {
        most = Math.max(most, memoryOf(process.pid ?? 0) / 2 ** 20);
      } catch {
        // a process of it has just ended
      }
    }, 100);
    for (const [at, box] of sources.entries()) {
      const answer = await watch(`Noise ${at}`, box.channel('1'));
      expect([at, answer.status], JSON.stringify(answer.body)).to.deep.equal([at, 502]);
      expect(answer.body).to.have.nested.property('error.code', 'PROVIDER_UNAVAILABLE');
    }
    const { status } = await watch('One', good.channel('1'));
    clearInterval(watching);
    expect(status).to.equal(201);
    expect(process.exitCode).to.equal(null);
    expect(most, 'megabytes').to.be.below(MOST_MEGABYTES);
  });
});
