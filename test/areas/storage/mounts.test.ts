import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryFolder } from '#support/stores.ts';
import { callMount, readerPid } from '../../../api/areas/storage/mounts/pool.ts';

describe('the readers of a mount', function () {
  this.timeout(30_000);

  it('read files on while a list hangs and its reader is ended', async () => {
    const root = temporaryFolder('mount');
    mkdirSync(join(root, 'films'));
    writeFileSync(join(root, 'films', 'a.mkv'), 'film');
    const place = { root, folder: 'films' };
    const list = (limitMs: number): Promise<unknown> =>
      callMount({ ...place, op: 'list', path: '', most: 10 }, limitMs);
    const read = async (): Promise<string> =>
      Buffer.from(
        (await callMount({ ...place, op: 'read', path: 'a.mkv', start: 0, length: 4 }, 10_000)) as Uint8Array,
      ).toString();
    await list(10_000);
    const pid = readerPid(root, 'films');
    expect(pid).to.be.a('number');
    process.kill(pid ?? 0, 'SIGSTOP');
    const late = list(500).then(String, (error: Error) => error.message);
    const during = read();
    expect(await late).to.equal('the mount does not answer');
    expect([await during, await read()]).to.deep.equal(['film', 'film']);
  });
});
