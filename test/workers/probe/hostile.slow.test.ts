import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { startApi } from '#support/api.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import type { Verdict } from '#support/hostile-media.child.ts';
import { hostileMedia } from '#support/hostile-media.ts';
import { PATIENCE } from '#support/patience.ts';
import { startApiProcess } from '#support/processes.ts';
import { atEnd, temporaryFolder } from '#support/stores.ts';

const FILES = 1500;
const PROCESSES = 2;
const LIMIT_MS = 30_000;
/** Of a process with four readers, which may take 256 MB each. */
const MOST_MB = 1536;
const UPLOADS = 200;
const CHILD = new URL('../../support/hostile-media.child.ts', import.meta.url);

/** Opens every second file in a process of its own, which ends when one takes longer than the limit. */
async function verdictsOf(first: number): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const folder = temporaryFolder('hostile');
  const child = fork(CHILD, [folder, ...[first, PROCESSES, FILES].map(String)]);
  atEnd(() => child.kill('SIGKILL'));
  let last: unknown;
  const late = (): boolean => child.kill('SIGKILL');
  let timer = setTimeout(late, LIMIT_MS * PATIENCE);
  child.on('message', (message: Verdict | { begun: number }) => {
    clearTimeout(timer);
    timer = setTimeout(late, LIMIT_MS * PATIENCE);
    last = message;
    if ('word' in message) verdicts.push(message);
  });
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  expect(code, `the process ended at ${JSON.stringify(last)}`).to.equal(0);
  return verdicts;
}

describe('hostile pictures, archives, books, drawings, XML and names', function () {
  this.timeout(600_000);

  it('have a verdict, each of 1,500, in time and in bounded memory', async () => {
    const verdicts = (await Promise.all([0, 1].map(verdictsOf))).flat();
    expect(verdicts).to.have.length(FILES);
    const slowest = verdicts.reduce((a, b) => (b.ms > a.ms ? b : a));
    expect(slowest.ms, JSON.stringify(slowest)).to.be.lessThan(LIMIT_MS * PATIENCE);
    expect(Math.max(...verdicts.map(({ memoryMb }) => memoryMb))).to.be.lessThan(MOST_MB);
    const words = new Set(verdicts.map(({ word }) => word));
    expect([...words]).to.include.members([
      'corrupt',
      'unsafe-archive',
      'not-media',
      'image_too_large',
      'not_an_image',
    ]);
    const names = verdicts.filter(({ way }) => way === 'names' || way === 'nfo');
    expect(Math.max(...names.map(({ ms }) => ms))).to.be.lessThan(3000 * PATIENCE);
  });

  it('end no API process that they are uploaded to', async () => {
    const api = await startApi();
    const library = await givenLibrary(api.deps.db, 'movies');
    const film = await givenItem(api.deps.db, library, { top: true });
    const owner = await api.given.owner();
    const { pid, url } = await startApiProcess(api);
    const statuses = new Set<number>();
    for (let number = 0, sent = 0; sent < UPLOADS; number += 1) {
      const { way, bytes } = await hostileMedia(number);
      if (way === 'names' || way === 'nfo' || way === 'music') continue;
      sent += 1;
      const body = new FormData();
      body.set('kind', 'poster');
      body.set('file', new Blob([Uint8Array.from(bytes)], { type: 'image/png' }), 'x.png');
      const { headers } = await api.given.again(owner);
      const signal = AbortSignal.timeout(LIMIT_MS * PATIENCE);
      const answer = await fetch(`${url}/api/v1/items/${film}/artwork`, { method: 'POST', headers, body, signal });
      await answer.arrayBuffer();
      expect(answer.status, `file ${number}`).to.be.oneOf([200, 201, 400, 409, 413, 415]);
      statuses.add(answer.status);
    }
    expect([...statuses]).to.include.members([201, 400, 415]);
    const alive = readFileSync(`/proc/${pid}/status`, 'utf8');
    const peakMb = Number(/VmHWM:\s+(\d+) kB/.exec(alive)?.[1]) / 1024;
    expect(peakMb).to.be.within(1, 700);
    expect((await fetch(`${url}/api/v1/server/ready`)).status).to.equal(200);
  });
});
