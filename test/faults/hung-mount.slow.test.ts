// A mount stops answering while people watch films on it: the rest of the server goes on as before.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { canMount, type HungMount, mountOverSsh } from '#support/hung-mount.ts';
import { eventually } from '#support/stores.ts';
import { fixtures } from '../../hack/fixtures/index.ts';
import { Machine, print } from './machine.ts';

const FILMS = 24;
/** People who watch films of the mount when it hangs: more than a process has threads by default. */
const VIEWERS = 8;
/** No request waits longer than a check of a storage may take. */
const MOST_MS = 6000;

const titleOf = (n: number): string => `Quiet Harbour ${String.fromCharCode(65 + n)}${n} (1999)`;

describe('a mount that hangs', function () {
  this.timeout(300_000);
  const machine = new Machine({
    apis: 1,
    media: [{ name: 'far', hostPath: { path: 'far' }, readOnly: true }],
  });
  const far = join(machine.folder, 'far');
  const files = join(machine.folder, 'ssh-files');
  const sent: IncomingMessage[] = [];
  const ids = { near: '', far: '', nearStorage: '', farStorage: '' };
  let mount: HungMount | undefined;
  let farFiles: string[] = [];

  before(async () => {
    if (!canMount()) throw new Error('a FUSE mount needs root and /dev/fuse');
    const { made, real } = await fixtures();
    mkdirSync(files);
    const tiny = readFileSync(join(made, 'tiny.mkv'));
    for (let n = 0; n < FILMS; n += 1)
      for (const [folder, kind] of [
        [files, 'far'],
        [machine.films, 'near'],
      ] as const) {
        const mark = Buffer.concat([Buffer.from([0xec, 0x88]), Buffer.from(`${kind}${n}`.padEnd(8))]);
        writeFileSync(join(folder, `${titleOf(n)}.mkv`), Buffer.concat([tiny, mark]));
      }
    for (let n = 0; n < VIEWERS; n += 1)
      copyFileSync(join(real, 'video', 'bbb_full_720p.mp4'), join(files, `Long Film ${n} (2001).mp4`));
    mount = await mountOverSsh(join(machine.folder, 'ssh'), { files, target: far });
    await machine.start();
    for (const name of ['media', 'far'] as const) {
      const found = await eventually(async () => {
        const { body } = await machine.owner.listStorages();
        return body.items.find((one) => one.name === name && one.state === 'available');
      }, 60_000);
      const folders = [{ storageId: found.id, path: name === 'media' ? 'films' : '' }];
      const made = await machine.owner.createLibrary({ body: { name, type: 'movies', folders } });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      if (name === 'media') Object.assign(ids, { near: made.body.id, nearStorage: found.id });
      else Object.assign(ids, { far: made.body.id, farStorage: found.id });
    }
    await eventually(async () => {
      const counts = await Promise.all([ids.near, ids.far].map(countOf));
      return counts[0] === FILMS && (counts[1] ?? 0) >= FILMS + 1;
    }, 120_000);
    const { body } = await machine.owner.listLibraryItems({ params: { id: ids.far }, query: { limit: 100 } });
    const details = await Promise.all(body.items.map(({ id }) => machine.owner.getItem({ params: { id } })));
    farFiles = details.flatMap((one) => one.body.files.map((file) => file.id));
  });
  after(async () => {
    for (const answer of sent) answer.destroy();
    await mount?.end();
    await machine.stop();
  });

  const countOf = async (id: string): Promise<number> =>
    (await machine.owner.listLibraryItems({ params: { id }, query: { limit: 100 } })).body.items?.length ?? 0;

  const open = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const agent = new Agent();
      const answered = (answer: IncomingMessage): void => {
        answer.on('error', () => undefined); // of a film whose mount hangs
        resolve(answer);
      };
      request(`${machine.url}${path}`, { agent, headers: machine.headers }, answered).on('error', reject).end();
    });

  /** Milliseconds of one request, by what it needs: the database, the files of the web app, a hash of a password. */
  const looks: Record<string, () => Promise<number>> = {
    list: async () => (await machine.owner.listLibraryItems({ params: { id: ids.far } })).status,
    page: async () => (await fetch(machine.url)).status,
    login: async () =>
      (await machine.owner.login({ body: { username: 'ana', password: 'a good long one' } } as never)).status,
    ready: async () => (await fetch(`${machine.url}/api/v1/server/health`)).status,
  };

  async function startScan(id: string): Promise<string> {
    const { status, body } = await machine.owner.startScan({ params: { id }, body: { mode: 'full' } });
    expect(status, JSON.stringify(body)).to.equal(202);
    return body.id;
  }
  const stateOf = async (id: string): Promise<string> => (await machine.owner.getScan({ params: { id } })).body.state;

  it('stops neither the API, nor scans of other libraries, nor the checks of other storages', async () => {
    for (const id of farFiles.slice(0, VIEWERS)) {
      const answer = await open(`/api/v1/files/${id}/stream`);
      expect(answer.statusCode).to.equal(200);
      sent.push(answer);
    }
    mount?.hang();
    const hung = Date.now();
    for (const answer of sent) answer.resume(); // each waits for a block that does not come
    const lost = await startScan(ids.far);
    await sleep(1500);
    const slowest: Record<string, number> = {};
    const faults: string[] = [];
    const end = new AbortController();
    const looking = Object.entries(looks).map(async ([name, look]) => {
      while (!end.signal.aborted) {
        const began = performance.now();
        const status = await Promise.race([look().catch(String), sleep(30_000, 'no answer')]);
        slowest[name] = Math.max(slowest[name] ?? 0, Math.round(performance.now() - began));
        if (status !== 200) faults.push(`${name}: ${status}`);
        await sleep(name === 'login' ? 10_000 : 300);
      }
    });
    const opened = farFiles.map(async (id) => {
      const began = performance.now();
      const answer = await Promise.race([open(`/api/v1/files/${id}/stream`), sleep(60_000)]);
      if (answer) sent.push(answer);
      return { status: answer?.statusCode, ms: Math.round(performance.now() - began) };
    });
    const scan = await startScan(ids.near);
    await eventually(async () => (await stateOf(scan)) === 'completed', 60_000);
    print(`the other library was scanned ${Date.now() - hung} ms after the hang`);
    const near = await machine.owner.checkStorage({ params: { id: ids.nearStorage } });
    expect(near.body, JSON.stringify(near.body)).to.include({ ok: true, state: 'available' });
    const checked = await machine.owner.checkStorage({ params: { id: ids.farStorage } });
    expect(checked.body, JSON.stringify(checked.body)).to.include({ ok: false, reason: 'timeout' });
    const unavailable = async (): Promise<boolean> =>
      (await machine.owner.getStorage({ params: { id: ids.farStorage } })).body.state === 'unavailable';
    await eventually(unavailable, 90_000);
    print(`the storage was unavailable ${Date.now() - hung} ms after the hang`);
    const openings = await Promise.all(opened);
    expect(
      openings.filter(({ status }) => status !== 423),
      JSON.stringify(openings),
    ).to.deep.equal([]);
    const again = await startScan(ids.near); // a worker without threads would not begin
    await eventually(async () => (await stateOf(again)) === 'completed', 60_000);
    await eventually(async () => ['completed', 'failed'].includes(await stateOf(lost)), 60_000);
    end.abort();
    await Promise.all(looking);
    print(`slowest: ${JSON.stringify(slowest)}`);
    expect(faults).to.deep.equal([]);
    for (const [name, ms] of Object.entries(slowest)) expect(ms, name).to.be.below(MOST_MS);
    expect((await machine.owner.getStorage({ params: { id: ids.nearStorage } })).body.state).to.equal('available');
  });

  it('is scanned and played again when it answers, with nothing in the trash', async () => {
    for (const answer of sent.splice(0)) answer.destroy();
    mount?.resume();
    const back = async (): Promise<boolean> =>
      (await machine.owner.getStorage({ params: { id: ids.farStorage } })).body.state === 'available';
    await eventually(back, 120_000);
    const scan = await startScan(ids.far);
    await eventually(async () => (await stateOf(scan)) === 'completed', 60_000);
    const answer = await open(`/api/v1/files/${farFiles[0]}/stream`);
    expect(answer.statusCode).to.equal(200);
    sent.push(answer);
    expect((await machine.owner.listTrash({ params: { id: ids.far } })).body.items).to.deep.equal([]);
    expect((await machine.owner.getStorage({ params: { id: ids.farStorage } })).body.state).to.equal('available');
  });
});
